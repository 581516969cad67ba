// SPDX-License-Identifier: Apache-2.0

package event

// AppendTransaction appends the payload of a "transaction" item to dst. It is the inverse of
// DecodeTransaction. It writes as many spans, in order, as fit into maxBytes and returns their
// number; the caller sends the others in a container. If the transaction does not fit even without
// spans, ok is false and dst is returned unchanged.
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
	for i := range t.Spans {
		fits := len(dst)
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Spans.append(dst, &t.Spans[i])
		if len(dst)+end-before > maxBytes {
			dst = dst[:fits]
			break
		}
		spans++
	}
	return append(dst, "]}"...), spans, true
}
