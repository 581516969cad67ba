// SPDX-License-Identifier: Apache-2.0

package measure

// check returns the first rule of the backend's libs/span/span.go that the span breaks, nil for
// none.
func (s *Span) check(mode Validation) *Invalid {
	c := &checks{label: LabelSpan}
	c.flaws(mode, s.mistyped)
	c.length(ReasonSpan, "name", s.Name, 1, 64)
	if s.SpanID == "" || s.TraceID == "" {
		c.fail(ReasonID, "span_id and trace_id must not be empty")
	}
	if !s.SessionID.Set() {
		c.fail(ReasonID, "session_id must be a UUID")
	}
	if s.Status.Value < 0 || s.Status.Value > 2 || mode == Strict && !s.Status.Set {
		c.fail(ReasonSpan, "status must be 0, 1 or 2")
	}
	if !s.StartTime.Set || !s.EndTime.Set {
		c.fail(ReasonTimestamp, "start_time and end_time must be times in RFC 3339")
	}
	if s.EndTime.UnixNano < s.StartTime.UnixNano {
		c.fail(ReasonSpan, "end_time must not be before start_time")
	}
	if len(s.Checkpoints) > maxCheckpoints {
		c.fail(ReasonSpan, "%d checkpoints, at most %d", len(s.Checkpoints), maxCheckpoints)
	}
	for i := range s.Checkpoints {
		c.length(ReasonSpan, "the name of a checkpoint", s.Checkpoints[i].Name, 0, 64)
	}
	c.attributes(&s.Attributes, maxSpanManufacturer)
	c.userAttributes(&s.UserDefined)
	return c.broken
}
