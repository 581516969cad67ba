// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"fmt"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// AppendEnvelope appends an envelope to dst. It is the inverse of ReadEnvelope, which returns an
// equal envelope. Each header is one line; each payload has a length and ends with a newline.
//
// AppendEnvelope returns an *EnvelopeError, and dst unchanged, if ReadEnvelope would reject the
// envelope or read it differently: too many items, a header that is too large, an event ID that is
// not 32 lower-case hex digits, a negative count, a year after 9999. Invalid UTF-8 in header text
// becomes U+FFFD, because an odd file or transaction name is no reason to lose a payload.
func AppendEnvelope(dst []byte, e *Envelope) ([]byte, error) {
	w := envelopeWriter{dst: dst, before: len(dst)}
	if err := w.header(&e.Header); err != nil {
		return dst, err
	}
	if len(e.Items) > MaxEnvelopeItems {
		return dst, w.fail(ReasonEnvelopeTooManyItems, "%d items, at most %d", len(e.Items), MaxEnvelopeItems)
	}
	for i := range e.Items {
		w.item = i + 1
		if err := w.writeItem(&e.Items[i]); err != nil {
			return dst, err
		}
	}
	return w.dst, nil
}

type envelopeWriter struct {
	dst    []byte
	before int // initial length of dst
	item   int // number of the current item, from 1; 0 = the envelope header
	start  int // start of that item or header in dst
}

func (w *envelopeWriter) fail(reason discard.Reason, format string, args ...any) *EnvelopeError {
	return &EnvelopeError{Reason: reason, Item: w.item, Offset: w.start - w.before, Detail: fmt.Sprintf(format, args...)}
}

func (w *envelopeWriter) header(h *EnvelopeHeader) *EnvelopeError {
	w.start = len(w.dst)
	if h.EventID != jsonscan.SimpleID(h.EventID) {
		return w.fail(ReasonEnvelopeInvalidHeader, "event id of %d bytes, expected 32 lower-case hex digits", len(h.EventID))
	}
	if year := h.SentAt.UTC().Year(); year < 1 || year > 9999 {
		return w.fail(ReasonEnvelopeInvalidHeader, "sent in the year %d, which RFC 3339 cannot represent", year)
	}
	w.dst = h.append(w.dst)
	return w.line()
}

func (w *envelopeWriter) writeItem(item *Item) *EnvelopeError {
	w.start = len(w.dst)
	h := &item.Header
	for _, count := range []jsonscan.Optional[int]{h.ItemCount, h.MetaLength, h.AttachmentLength} {
		if count.Set && count.Value < 0 {
			return w.fail(ReasonEnvelopeInvalidItemHeader, "item_count, meta_length or attachment_length is %d", count.Value)
		}
	}
	w.dst = h.append(w.dst, len(item.Payload))
	if err := w.line(); err != nil {
		return err
	}
	w.dst = append(append(w.dst, item.Payload...), '\n')
	return nil
}

// line ends the line of a header.
func (w *envelopeWriter) line() *EnvelopeError {
	if size := len(w.dst) - w.start; size > MaxHeaderBytes {
		return w.fail(ReasonEnvelopeHeaderTooLarge, "header of %d bytes, at most %d", size, MaxHeaderBytes)
	}
	w.dst = append(w.dst, '\n')
	return nil
}
