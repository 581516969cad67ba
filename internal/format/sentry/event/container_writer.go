// SPDX-License-Identifier: Apache-2.0

package event

// ContainerWriter writes the payloads of containers: spans, logs or metrics. It is the inverse of
// DecodeSpans, DecodeLogs and DecodeTraceMetrics.
type ContainerWriter struct {
	payload  []byte
	limit    int // bytes of a payload
	single   int // the same, with one element
	elements int // in it
}

// Element is an element of a container.
type Element interface{ append(dst []byte) []byte }

// NewContainerWriter returns a writer of payloads of at most limit bytes. It reuses the memory of
// scratch.
func NewContainerWriter(scratch []byte, limit int) *ContainerWriter {
	return &ContainerWriter{payload: scratch[:0], limit: limit, single: limit}
}

// AllowSingle sets the limit of a payload with only one element.
func (w *ContainerWriter) AllowSingle(limit int) { w.single = max(w.limit, limit) }

// Len returns the number of elements in the payload.
func (w *ContainerWriter) Len() int { return w.elements }

// Add adds an element to the payload. It reports whether it fits.
func (w *ContainerWriter) Add(e Element) bool {
	before := len(w.payload)
	separator, limit := ",", w.limit
	if w.elements == 0 {
		separator, limit = beginOfContainer, w.single
	}
	w.payload = e.append(append(w.payload, separator...))
	if len(w.payload)+len(endOfContainer) > limit {
		w.payload = w.payload[:before]
		return false
	}
	w.elements++
	return true
}

// beginOfContainer tells ingest to complete nothing from the request: its sender is the collector,
// not the application. Without a version, ingest adds the sender's user agent to logs and metrics
// (relay-server/src/processing/logs/process.rs).
const beginOfContainer = `{"version":2,"ingest_settings":{"infer_ip":"never","infer_user_agent":"never"},"items":[`

const endOfContainer = "]}"

// Finish returns the payload (item_count = Len) and begins a new one. The payload is valid until
// the next Add.
func (w *ContainerWriter) Finish() []byte {
	payload := append(w.payload, endOfContainer...)
	w.payload, w.elements = payload[:0], 0
	return payload
}

// Scratch returns the memory of the payload for reuse.
func (w *ContainerWriter) Scratch() []byte { return w.payload[:0] }
