// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"bytes"
	"fmt"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Envelope is the body of a request to /api/{project}/envelope/: one JSON header and any number of
// items.
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

// Reasons why an envelope cannot be read to its end or cannot be written. Relay responds with 400
// to all of them.
const (
	ReasonEnvelopeEmpty             discard.Reason = "envelope_empty"
	ReasonEnvelopeInvalidHeader     discard.Reason = "envelope_invalid_header"
	ReasonEnvelopeInvalidItemHeader discard.Reason = "envelope_invalid_item_header"
	ReasonEnvelopeHeaderTooLarge    discard.Reason = "envelope_header_too_large"
	ReasonEnvelopeMissingNewline    discard.Reason = "envelope_missing_newline"
	ReasonEnvelopeTruncated         discard.Reason = "envelope_truncated"
	ReasonEnvelopeTooManyItems      discard.Reason = "envelope_too_many_items"
)

// EnvelopeError states where and why an envelope is invalid.
type EnvelopeError struct {
	Reason discard.Reason
	Item   int    // number of the item, from 1; 0 = the envelope header
	Offset int    // byte of the body at which that item or the header begins
	Detail string // what was expected, with the number; no payload text
}

func (e *EnvelopeError) Error() string {
	if e.Item == 0 {
		return fmt.Sprintf("%s: envelope header at byte %d: %s", e.Reason, e.Offset, e.Detail)
	}
	return fmt.Sprintf("%s: item %d at byte %d: %s", e.Reason, e.Item, e.Offset, e.Detail)
}

// ReadEnvelope splits an envelope into its items. It does not read payloads: they are sub-slices of
// body and change when body changes. Everything else is copied.
//
// A bad item (a header without a type, a payload that is not JSON) is a value that the caller
// checks. A bad stream is an error of type *EnvelopeError, because the items after the error cannot
// be found. The envelope is never nil: after an error, it contains the items before it, so that the
// caller can count them.
//
// The rules are those of Relay (relay-server/src/envelope): the `length` of an item determines its
// end; without a length (JavaScript, Ruby and PHP omit it for JSON), the item ends at the newline.
// The only stricter rules are MaxEnvelopeItems, MaxHeaderBytes and MaxJSONDepth. In addition,
// ReadEnvelope accepts:
//   - blank lines at the end, like python's own reader;
//   - "\r\n" after a header or after a payload with a length. Without a length the "\r" belongs to
//     the payload;
//   - optional header fields of the wrong type, which are treated as absent;
//   - item types that are internal to Relay ("integration"): they are unknown, like any other type
//     that is not listed.
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

// ReadEnvelopeHeader reads the header of an incomplete envelope. The error is of type
// *EnvelopeError; with more of the envelope, the call may succeed.
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
	item  int // number of the current item, from 1; 0 = the envelope header
	start int // start of that item or header
	end   int // end of its payload
}

func (r *envelopeReader) fail(reason discard.Reason, format string, args ...any) *EnvelopeError {
	return &EnvelopeError{Reason: reason, Item: r.item, Offset: r.start, Detail: fmt.Sprintf(format, args...)}
}

// atEnd skips white space, which may precede any JSON header, and reports whether it reached the
// end of the body.
func (r *envelopeReader) atEnd() bool {
	for r.pos < len(r.body) && jsonscan.IsSpace(r.body[r.pos]) {
		r.pos++
	}
	r.start = r.pos
	return r.pos == len(r.body)
}

// envelopeHeader decodes the header of the envelope. An error leaves header unchanged.
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
	// The length is only compared: it does not determine any allocation and cannot exceed the body.
	if length.Value > len(rest) {
		return r.fail(ReasonEnvelopeTruncated, "length is %d, but %d bytes are left", length.Value, len(rest))
	}
	r.setPayload(item, length.Value)
	return r.newline("payload")
}

// setPayload makes the next n bytes the payload. Its capacity ends there, so that an append cannot
// overwrite the next item.
func (r *envelopeReader) setPayload(item *Item, n int) {
	item.Payload = r.body[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	r.end = r.pos
}

// header decodes one JSON object, which may span lines, and skips the newline after it.
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

// newline skips the end of a line. The end of the body also counts.
func (r *envelopeReader) newline(after string) *EnvelopeError {
	switch rest := r.body[r.pos:]; {
	case len(rest) == 0:
	case rest[0] == '\n':
		r.pos++
	case rest[0] == '\r' && (len(rest) == 1 || rest[1] == '\n'):
		r.pos += min(2, len(rest))
	default:
		return r.fail(ReasonEnvelopeMissingNewline, "byte %d after the %s is 0x%02x, expected a newline", r.pos, after, rest[0])
	}
	return nil
}
