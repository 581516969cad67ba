// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// correlationKeys lists where the payloads of a type name the group of data that they belong to: their
// trace, their profiler session, their replay, the session of a user.
var correlationKeys = map[ItemType][]string{
	ItemEvent:          {"contexts", "trace", "trace_id"},
	ItemTransaction:    {"contexts", "trace", "trace_id"},
	ItemFeedback:       {"contexts", "trace", "trace_id"},
	ItemSpan:           {"trace_id"}, // without a container
	ItemProfile:        {"transaction", "trace_id"},
	ItemProfileChunk:   {"profiler_id"},
	ItemProfileChunkUI: {"profiler_id"},
	ItemReplayEvent:    {"replay_id"},
	ItemSession:        {"sid"},
	ItemCheckIn:        {"check_in_id"},
	ItemUserReport:     {"event_id"},
}

// CorrelationID returns the ID that an item shares with the data that it belongs to, "" if it has none.
// UUIDs have one spelling. Containers have elements with different IDs, see FilterContainer.
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

// PlatformOf returns the platform of a chunk: of its header or, as few SDKs have that one, of its
// payload.
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

// textAt returns the text at a path of keys, "" if there is none.
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

// find advances the scanner to the value of a key of the object at the scanner, and reports whether
// there is one.
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

// FilterContainer returns a payload of type span, log or trace_metric with those of its elements
// only whose trace keep accepts. ok is false if the payload is no container.
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
