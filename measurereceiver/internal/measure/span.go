// SPDX-License-Identifier: Apache-2.0

package measure

// Span is one element of "spans", or the content of a "span" part.
type Span struct {
	Name        string         `json:"name"`
	TraceID     string         `json:"trace_id"` // 32 hex digits
	SpanID      string         `json:"span_id"`  // 16 hex digits
	ParentID    string         `json:"parent_id"`
	SessionID   ID             `json:"session_id"`
	StartTime   Time           `json:"start_time"`
	EndTime     Time           `json:"end_time"`
	Duration    Int            `json:"duration"` // ms, by a monotonic clock
	Status      Int            `json:"status"`   // 0 unset, 1 ok, 2 error: OTLP's numbers, unlike the published document
	Attributes  Attributes     `json:"attributes"`
	UserDefined UserAttributes `json:"user_defined_attribute"`
	Checkpoints []Checkpoint   `json:"checkpoints"`

	// Names of the published document; nil and empty after decoding.
	DocumentName       string      `json:"span_name"`
	DocumentAttributes *Attributes `json:"attribute"`

	mistyped bool // a field had the wrong type
}

// normalize moves fields with the document's names to the real ones, if those are absent.
func (s *Span) normalize() {
	if s.Name == "" {
		s.Name = s.DocumentName
	}
	if s.DocumentAttributes != nil && s.Attributes == (Attributes{}) {
		s.Attributes = *s.DocumentAttributes
	}
	s.DocumentName, s.DocumentAttributes = "", nil
}

// Checkpoint is an instant within a span.
type Checkpoint struct {
	Name      string `json:"name"`
	Timestamp Time   `json:"timestamp"`
}
