// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"bytes"
	"fmt"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Envelope is the body of a request to /api/{project}/envelope/: one JSON header and any number of items.
//
//	{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc","sent_at":"2026-05-01T10:00:01.000Z"}\n
//	{"type":"profile_chunk","platform":"python","length":501}\n
//	{"version":"2",…501 bytes…}\n
//
// https://develop.sentry.dev/sdk/foundations/transport/envelopes/
type Envelope struct {
	Header EnvelopeHeader
	Items  []Item
}

// Reasons for which an envelope cannot be read to its end, or not be written. Relay answers all of them with 400.
const (
	ReasonEnvelopeEmpty             discard.Reason = "envelope_empty"
	ReasonEnvelopeInvalidHeader     discard.Reason = "envelope_invalid_header"
	ReasonEnvelopeInvalidItemHeader discard.Reason = "envelope_invalid_item_header"
	ReasonEnvelopeHeaderTooLarge    discard.Reason = "envelope_header_too_large"
	ReasonEnvelopeMissingNewline    discard.Reason = "envelope_missing_newline"
	ReasonEnvelopeTruncated         discard.Reason = "envelope_truncated"
	ReasonEnvelopeTooManyItems      discard.Reason = "envelope_too_many_items"
)

// EnvelopeError says where an envelope stops being one.
type EnvelopeError struct {
	Reason discard.Reason
	Item   int    // number of the item, from 1; 0 = the envelope header
	Offset int    // byte of the body where that item, or the header, begins; where written, the length so far
	Detail string // what was expected, with the number; no payload text
}

func (e *EnvelopeError) Error() string {
	if e.Item == 0 {
		return fmt.Sprintf("%s: envelope header at byte %d: %s", e.Reason, e.Offset, e.Detail)
	}
	return fmt.Sprintf("%s: item %d at byte %d: %s", e.Reason, e.Item, e.Offset, e.Detail)
}

// ReadEnvelope frames an envelope. It never looks into payloads: they are sub-slices of body, so they live as long as body
// does and change when it changes. Everything else is copied.
//
// A bad item is a value (a header without a type, a payload that is no JSON: the caller's concern); a bad stream is an
// error, of type *EnvelopeError, because nothing after it can be found. The envelope is never nil and then holds what was
// read before, so that the caller can count it.
//
// The rules are those of Relay (relay-server/src/envelope), which go by `length` where it is given and by newlines where it
// is not (JavaScript, ruby and php never give it for JSON). Less is accepted only by MaxEnvelopeItems, MaxHeaderBytes and
// MaxJSONDepth; more in these points:
//   - blank lines at the end, which python's own reader takes for the end too;
//   - "\r\n" after a header or after a payload of stated length. Without a length the "\r" belongs to the payload;
//   - optional header fields of the wrong type, which count as absent;
//   - item types that Relay keeps to itself ("integration"): unknown, like any other that is not in the list.
func ReadEnvelope(body []byte) (*Envelope, error) {
	e := &Envelope{}
	r := envelopeReader{body: body}
	if err := r.envelopeHeader(&e.Header); err != nil {
		return e, err
	}
	for !r.atEnd() {
		r.item++
		if len(e.Items) == MaxEnvelopeItems {
			return e, r.fail(ReasonEnvelopeTooManyItems, "more than %d items", MaxEnvelopeItems)
		}
		item := Item{}
		if err := r.readItem(&item); err != nil {
			return e, err
		}
		e.Items = append(e.Items, item)
	}
	return e, nil
}

// ReadEnvelopeHeader reads the header of an envelope of which only the beginning is there. The error is of type *EnvelopeError;
// more of the envelope may end it.
func ReadEnvelopeHeader(begin []byte) (EnvelopeHeader, error) {
	var header EnvelopeHeader
	r := envelopeReader{body: begin}
	if err := r.envelopeHeader(&header); err != nil {
		return EnvelopeHeader{}, err
	}
	return header, nil
}

type envelopeReader struct {
	body  []byte
	pos   int
	item  int // number of the item being read, from 1; 0 = the envelope header
	start int // where it begins
	end   int // where its payload ends
}

func (r *envelopeReader) fail(reason discard.Reason, format string, args ...any) *EnvelopeError {
	return &EnvelopeError{Reason: reason, Item: r.item, Offset: r.start, Detail: fmt.Sprintf(format, args...)}
}

// atEnd skips white space, which may stand before any JSON header, and says whether anything is left.
func (r *envelopeReader) atEnd() bool {
	for r.pos < len(r.body) && jsonscan.IsSpace(r.body[r.pos]) {
		r.pos++
	}
	r.start = r.pos
	return r.pos == len(r.body)
}

// envelopeHeader decodes the header of the envelope. After an error it is as it was.
func (r *envelopeReader) envelopeHeader(header *EnvelopeHeader) *EnvelopeError {
	if r.atEnd() {
		return r.fail(ReasonEnvelopeEmpty, "body of %d bytes without an envelope", len(r.body))
	}
	var decoded EnvelopeHeader
	if err := r.header(ReasonEnvelopeInvalidHeader, decoded.decode); err != nil {
		return err
	}
	*header = decoded
	return nil
}

func (r *envelopeReader) readItem(item *Item) *EnvelopeError {
	var length jsonscan.Optional[int]
	decode := func(s *jsonscan.Scanner) { length = item.Header.decode(s) }
	if err := r.header(ReasonEnvelopeInvalidItemHeader, decode); err != nil {
		return err
	}
	rest := r.body[r.pos:]
	if !length.Set {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		r.setPayload(item, end)
		r.pos = min(r.pos+1, len(r.body))
		return nil
	}
	// The length is only ever compared: nothing is allocated by it, and it cannot reach beyond the body.
	if length.Value > len(rest) {
		return r.fail(ReasonEnvelopeTruncated, "length is %d, but %d bytes are left", length.Value, len(rest))
	}
	r.setPayload(item, length.Value)
	return r.newline("payload")
}

// setPayload makes the next n bytes the payload, with a capacity that keeps an append from reaching the next item.
func (r *envelopeReader) setPayload(item *Item, n int) {
	item.Payload = r.body[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	r.end = r.pos
}

// header decodes one JSON object, which may span lines, and steps over the newline behind it.
func (r *envelopeReader) header(invalid discard.Reason, decode func(*jsonscan.Scanner)) *EnvelopeError {
	s := jsonscan.Scanner{Data: r.body, Pos: r.pos}
	decode(&s)
	if s.Err != nil {
		return r.fail(invalid, "%s", s.Err.Detail)
	}
	if size := s.Pos - r.pos; size > MaxHeaderBytes {
		return r.fail(ReasonEnvelopeHeaderTooLarge, "header of %d bytes, at most %d", size, MaxHeaderBytes)
	}
	r.pos = s.Pos
	return r.newline("header")
}

// newline steps over the end of a line; the end of the body is one too.
func (r *envelopeReader) newline(after string) *EnvelopeError {
	switch rest := r.body[r.pos:]; {
	case len(rest) == 0:
	case rest[0] == '\n':
		r.pos++
	case rest[0] == '\r' && (len(rest) == 1 || rest[1] == '\n'):
		r.pos += min(2, len(rest))
	default:
		return r.fail(ReasonEnvelopeMissingNewline, "byte %d, after the %s, is 0x%02x", r.pos, after, rest[0])
	}
	return nil
}
