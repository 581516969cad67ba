// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

var storeKeys = []string{"event_id", "type"}

// ReadStore reads the body of a request to /api/{project}/store/, one event or transaction without
// an envelope, and returns the envelope that a newer SDK would have sent. The payload is the body
// itself. If the body is not a JSON object, the error is a *discard.Error and the envelope is
// empty.
func ReadStore(body []byte) (*Envelope, error) {
	e := &Envelope{}
	item := Item{Header: ItemHeader{Type: ItemEvent, ContentType: ContentTypeJSON}, Payload: slices.Clip(body)}
	s := jsonscan.Scanner{Data: body}
	s.Open('{')
	for o := (headerObject{s: &s, known: storeKeys}); o.next(); {
		switch o.key {
		case "event_id":
			e.Header.EventID = jsonscan.SimpleID(o.text())
		case "type":
			item.Header.Type = ItemEvent // an error, a message, a browser report: any type except transaction
			if o.text() == string(ItemTransaction) {
				item.Header.Type = ItemTransaction
			}
		}
	}
	if s.End(); s.Err != nil {
		return &Envelope{}, s.Err
	}
	e.Items = []Item{item}
	return e, nil
}
