// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"

// AppendTransaction appends the payload of a "transaction" item to dst. It is the inverse of
// DecodeTransaction. It writes as many spans, in order, as fit into maxBytes and into
// MaxOutgoingSpanBytes, and returns their number; the caller sends the others in a container. If
// the transaction does not fit even without spans, ok is false and dst is returned unchanged.
//
// The root and its times are required.
func AppendTransaction(dst []byte, t *Transaction, maxBytes int) (_ []byte, spans int, ok bool) {
	const end = len("]}")
	before := len(dst)
	head := *t
	head.Type, head.Timestamp = "transaction", t.Root.End
	dst = Transactions.appendMembers(append(dst, '{'), &head)
	dst = append(dst, `,"spans":[`...)
	if len(dst)+end-before > maxBytes {
		return dst[:before], 0, false
	}
	added, counted := t.addedToSpan(), 0
	for i := range t.Spans {
		fits := len(dst)
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Spans.append(dst, &t.Spans[i])
		counted += len(dst) - fits + added + min(len(t.Spans[i].Description), maxDescriptionTag)
		if len(dst)+end-before > maxBytes || counted > sentry.MaxOutgoingSpanBytes {
			dst = dst[:fits]
			break
		}
		spans++
	}
	return append(dst, "]}"...), spans, true
}

// maxDescriptionTag is the size at which ingest cuts the description in the tags of a span.
const maxDescriptionTag = 200

// addedToSpan returns a bound of the bytes that ingest adds to each span before it counts, except
// the description: tags that repeat the transaction, and the trace header
// (relay-event-normalization, normalize/span/tag_extraction.rs). It counts no keys, so the keys of
// the span pay for most of the other fields. An absent field counts one byte.
func (t *Transaction) addedToSpan() int {
	const others = 128
	size := others + len(t.Transaction) + len(t.Release) + len(t.Environment) + len(t.SDK.Name) + len(t.SDK.Version) +
		len(t.ProfilerID) + len(t.Root.Op) + len(t.Root.Status)
	for i := range t.User {
		size += len(t.User[i].Value)
	}
	return size
}
