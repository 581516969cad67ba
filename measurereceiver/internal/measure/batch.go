// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/google/uuid"
)

// Batch is the content of one request to PUT /events.
type Batch struct {
	Events []Event
	Spans  []Span

	Lost   []Loss // unusable items
	Flawed []Loss // items kept although a field had the wrong type: without the field, or with a coerced value

	items    int // so far, including lost ones
	elements int // list elements so far, see weigh
	size     int // bytes of the items' JSON
	invalid  *Invalid

	reserve    func(bytes int64) error // nil = memory is unbounded
	unreserved int64                   // bytes not yet reserved
}

// reserveStep is the number of bytes to reserve at a time: an ordinary batch reserves a few times
// at most.
const reserveStep = 64 << 10

// Loss counts items with one label that were dropped or repaired for one reason.
type Loss struct {
	Label  string // Event.Label, or LabelSpan
	Reason Reason
	Count  int
}

// Reason is the stable name of the reason for dropping an item: a metric attribute or a word in a
// log, never a sentence.
type Reason string

// Reasons for dropping an item.
const (
	ReasonMalformed     Reason = "malformed"      // not a JSON object
	ReasonTooMany       Reason = "too_many"       // too many items or list elements
	ReasonTooDeep       Reason = "too_deep"       // nested too deeply
	ReasonDuplicate     Reason = "duplicate"      // of an item in the same batch
	ReasonID            Reason = "id"             // missing, or not a UUID
	ReasonTimestamp     Reason = "timestamp"      // missing, or not a time
	ReasonOS            Reason = "os_name"        // neither Android nor Apple
	ReasonType          Reason = "type"           // not of this operating system, or unknown
	ReasonAttribute     Reason = "attribute"      // a rule for attributes is broken
	ReasonUserAttribute Reason = "user_attribute" // a rule for user-defined attributes is broken
	ReasonAttachment    Reason = "attachment"     // a rule for attachments is broken
	ReasonPayload       Reason = "payload"        // missing, or a rule of its type is broken
	ReasonSpan          Reason = "span"           // a rule for spans is broken
	ReasonFieldType     Reason = "field_type"     // of kept items: a field had the wrong type
)

// Invalid is the error of an item, or of a batch that is rejected because of it.
type Invalid struct {
	Label  string
	Reason Reason
	Detail string // what was expected, where, with the number; no text from the sender
}

func invalidf(label string, reason Reason, format string, args ...any) *Invalid {
	return &Invalid{Label: label, Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

func (i *Invalid) Error() string { return fmt.Sprintf("%s: %s: %s", i.Label, i.Reason, i.Detail) }

// errEmpty is the error of a batch without items. No SDK sends one.
var errEmpty = errors.New("payload must contain at least one of events, spans")

// DecodeJSON reads a batch as JSON. It drops items that it cannot read or that break a rule of
// lenient validation, and keeps all others. It returns an error for a body that is not a batch. It
// ignores text after the batch, like the backend.
//
// Before DecodeJSON allocates memory, it calls reserve, which may be nil, with the number of bytes
// that items need when decoded and as OTLP: a body of empty objects needs eighty times its size. If
// reserve fails, the decoding ends.
func DecodeJSON(body []byte, reserve func(bytes int64) error) (*Batch, error) {
	b := &Batch{reserve: reserve}
	d := json.NewDecoder(bytes.NewReader(body))
	if token, err := d.Token(); err != nil {
		return nil, err
	} else if token != json.Delim('{') {
		return nil, errors.New("the body must be a JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch {
		case strings.EqualFold(key.(string), "events"): // like Go's decoder, and therefore the backend
			err = b.list(d, "events", b.addEvent)
		case strings.EqualFold(key.(string), "spans"):
			err = b.list(d, "spans", b.addSpan)
		default:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if b.items == 0 {
		return nil, errEmpty
	}
	return b, nil
}

// list visits the elements of a list; null has none.
func (b *Batch) list(d *json.Decoder, name string, add func([]byte) error) error {
	switch token, err := d.Token(); {
	case err != nil:
		return err
	case token == nil:
		return nil
	case token != json.Delim('['):
		return fmt.Errorf("%q must be a list", name)
	}
	for d.More() {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if err := add(item); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// admit reports whether the limits allow an item, and how many bytes it has reserved for it. The
// error is that of reserve.
func (b *Batch) admit(label string, text []byte) (reserved int64, ok bool, err error) {
	b.items++
	b.size += len(text)
	w := weigh(text)
	switch {
	case b.items > maxItems:
		b.reject(invalidf(label, ReasonTooMany, "more than %d items in a batch", maxItems))
		return 0, false, nil
	case w.elements > maxItemElements || b.elements+w.elements > maxElements:
		b.reject(invalidf(label, ReasonTooMany, "more than %d list elements in an item, or %d in a batch", maxItemElements, maxElements))
		return 0, false, nil
	case w.depth > maxDepth:
		b.reject(invalidf(label, ReasonTooDeep, "nested deeper than %d", maxDepth))
		return 0, false, nil
	}
	b.elements += w.elements
	err = b.spend(w.bytes())
	return w.bytes(), err == nil, err
}

// spend reserves n bytes, or adds them to a later reservation.
func (b *Batch) spend(n int64) (err error) {
	if b.unreserved += n; b.reserve != nil && b.unreserved >= reserveStep {
		err = b.reserve(b.unreserved)
		b.unreserved = 0
	}
	return err
}

func (b *Batch) addEvent(text []byte) error {
	reserved, ok, err := b.admit(LabelUnknown, text)
	if !ok {
		return err
	}
	var e Event
	err = decodeObject(text, &e)
	if err != nil && !isFieldType(err) {
		b.rejectDecoded(invalidf(LabelUnknown, ReasonMalformed, "an event must be a JSON object"), reserved)
		return nil
	}
	if e.ID.Empty { // equal for every retry
		e.ID.UUID = uuid.NewSHA1(uuid.Nil, text)
	}
	if _, known := eventTypes[e.Type]; !known && e.Type != "" {
		e.Unknown = member(text, e.Type)
	}
	if why := e.check(Lenient); why != nil { // checked here, because {} would become an Event of a thousand bytes
		b.rejectDecoded(why, reserved)
		return nil
	}
	if e.mistyped = err != nil || hasFlaws(reflect.ValueOf(e)); e.mistyped {
		b.Flawed = addLoss(b.Flawed, e.Label(), ReasonFieldType)
	}
	b.Events = append(b.Events, e)
	return nil
}

func (b *Batch) addSpan(text []byte) error {
	reserved, ok, err := b.admit(LabelSpan, text)
	if !ok {
		return err
	}
	var s Span
	err = decodeObject(text, &s)
	if err != nil && !isFieldType(err) {
		b.rejectDecoded(invalidf(LabelSpan, ReasonMalformed, "a span must be a JSON object"), reserved)
		return nil
	}
	s.normalize()
	if why := s.check(Lenient); why != nil {
		b.rejectDecoded(why, reserved)
		return nil
	}
	if s.mistyped = err != nil || hasFlaws(reflect.ValueOf(s)); s.mistyped {
		b.Flawed = addLoss(b.Flawed, LabelSpan, ReasonFieldType)
	}
	b.Spans = append(b.Spans, s)
	return nil
}

// decodeObject skips fields of the wrong type and returns an error about them. It fails for
// anything but an object.
func decodeObject(text []byte, into any) error {
	if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return errors.New("no object")
	}
	return json.Unmarshal(text, into)
}

// isFieldType reports whether encoding/json has skipped a field of the wrong type and decoded the
// rest.
func isFieldType(err error) bool {
	_, is := errors.AsType[*json.UnmarshalTypeError](err)
	return is
}

// member returns a copy of an object's member, nil if there is none.
func member(text []byte, name string) (found json.RawMessage) {
	members(text, func(key string, value json.RawMessage) bool {
		if key == name && !isNull(value) {
			found = value
		}
		return true
	})
	return found
}

// rejectDecoded drops a decoded item. The next item reuses its reservation.
func (b *Batch) rejectDecoded(why *Invalid, reserved int64) {
	b.reject(why)
	b.unreserved -= reserved
}

// reject counts a dropped item. The first one is the error of a batch without any usable item.
func (b *Batch) reject(why *Invalid) {
	b.Lost = addLoss(b.Lost, why.Label, why.Reason)
	if b.invalid == nil {
		b.invalid = why
	}
}

func addLoss(losses []Loss, label string, reason Reason) []Loss {
	for i := range losses {
		if losses[i].Label == label && losses[i].Reason == reason {
			losses[i].Count++
			return losses
		}
	}
	return append(losses, Loss{Label: label, Reason: reason, Count: 1})
}
