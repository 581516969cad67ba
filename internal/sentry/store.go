package sentry

import "slices"

var storeKeys = []string{"event_id", "type"}

// ReadStore makes of the body of a request to /api/{project}/store/, which is one event or transaction without an envelope,
// the envelope that a newer SDK would have sent. The payload is the body itself. The error is a Discard: no JSON object, and
// the envelope is then empty.
func ReadStore(body []byte) (*Envelope, error) {
	e := &Envelope{}
	item := Item{Header: ItemHeader{Type: ItemEvent, ContentType: ContentTypeJSON}, Payload: slices.Clip(body)}
	s := scanner{data: body}
	s.open('{')
	for o := (headerObject{s: &s, known: storeKeys}); o.next(); {
		switch o.key {
		case "event_id":
			e.Header.EventID = simpleID(o.text())
		case "type":
			item.Header.Type = ItemEvent // an error, a message, a report of a browser: anything but
			if o.text() == string(ItemTransaction) {
				item.Header.Type = ItemTransaction
			}
		}
	}
	if s.end(); s.err != nil {
		return &Envelope{}, malformed(s.err)
	}
	e.Items = []Item{item}
	return e, nil
}
