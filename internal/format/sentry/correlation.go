// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// correlationKeys lists, by item type, the path of the ID that related items share: trace, profiler
// session, replay or user session.
var correlationKeys = map[ItemType][]string{
	ItemEvent:          {"contexts", "trace", "trace_id"},
	ItemTransaction:    {"contexts", "trace", "trace_id"},
	ItemFeedback:       {"contexts", "trace", "trace_id"},
	ItemSpan:           {"trace_id"}, // a single span, not a container
	ItemProfile:        {"transaction", "trace_id"},
	ItemProfileChunk:   {"profiler_id"},
	ItemProfileChunkUI: {"profiler_id"},
	ItemReplayEvent:    {"replay_id"},
	ItemSession:        {"sid"},
	ItemCheckIn:        {"check_in_id"},
	ItemUserReport:     {"event_id"},
}

// CorrelationID returns the ID that an item shares with related items, or "". UUIDs are normalized.
// Elements of containers have different IDs, see FilterContainer.
func CorrelationID(item *Item, header *EnvelopeHeader) string {
	if path := correlationKeys[item.Header.Type]; path != nil {
		if path[len(path)-1] == "trace_id" && header.Trace != nil && header.Trace.TraceID != "" {
			return canonicalID(header.Trace.TraceID)
		}
		s := jsonscan.Scanner{Data: item.Payload}
		if id := textAt(&s, path...); id != "" {
			return canonicalID(id)
		}
	}
	return header.EventID
}

// PlatformOf returns the platform of a chunk, from the item header or, because few SDKs set it
// there, from the payload.
func PlatformOf(item *Item) string {
	if item.Header.Platform != "" {
		return item.Header.Platform
	}
	payload := item.Payload
	if n := item.Header.MetaLength; n.Set && n.Value < len(payload) {
		payload = payload[:n.Value]
	}
	s := jsonscan.Scanner{Data: payload}
	return textAt(&s, "platform")
}

func canonicalID(id string) string {
	if simple := jsonscan.SimpleID(id); simple != "" {
		return simple
	}
	return strings.ToLower(id)
}

// textAt returns the text at a path of keys, or "".
func textAt(s *jsonscan.Scanner, path ...string) string {
	for _, key := range path {
		if !find(s, key) {
			return ""
		}
	}
	if s.Peek() != '"' {
		return ""
	}
	return string(s.Text())
}

// find advances the scanner to the value of a key in the current object, and reports whether the
// key exists.
func find(s *jsonscan.Scanner, key string) bool {
	if s.Peek() != '{' || !s.Open('{') {
		return false
	}
	for n := 0; ; {
		name, ok := s.Member(&n)
		if !ok {
			return false
		}
		if string(name) == key {
			return true
		}
		s.Skip()
	}
}

// FilterContainer returns a span, log or trace_metric container with only those elements whose
// trace keep accepts. ok is false if the payload is not a container.
func FilterContainer(payload []byte, keep func(traceID string) bool) (filtered []byte, kept, omitted int, ok bool) {
	s := jsonscan.Scanner{Data: payload}
	if !find(&s, "items") || s.Peek() != '[' || !s.Open('[') {
		return nil, 0, 0, false
	}
	filtered = append(make([]byte, 0, len(payload)), payload[:s.Pos]...)
	for n := 0; s.Element(&n); {
		s.Peek() // skips white space
		element := jsonscan.Scanner{Data: s.Value()}
		if s.Err != nil {
			break
		}
		if !keep(canonicalID(textAt(&element, "trace_id"))) {
			omitted++
			continue
		}
		if kept > 0 {
			filtered = append(filtered, ',')
		}
		filtered = append(filtered, element.Data...)
		kept++
	}
	if s.Err != nil {
		return nil, 0, 0, false
	}
	return append(append(filtered, ']'), payload[s.Pos:]...), kept, omitted, true
}
