// SPDX-License-Identifier: Apache-2.0

package omit

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
)

// Selection selects the items of one request that are forwarded to Sentry.
type Selection struct {
	Rates  Rates
	Limits *sentry.ActiveLimits // nil: no limits apply
	Now    time.Time
	Header sentry.EnvelopeHeader

	Omitted Losses // the other items
}

// cause is the reason for omitting an item, as in client reports. The zero value means that the
// item is forwarded.
type cause struct{ outcome, reason string }

var (
	// causeSampled is what SDKs report for data that their own sample rates exclude.
	causeSampled = cause{event.OutcomeClientDiscard, "sample_rate"}
	// causeLimited is what Relay reports for limited data; a limit without a reason is "generic"
	// (tests/integration/test_proxy.py).
	causeLimited = cause{event.OutcomeRateLimited, "generic"}
)

// Without an item of a leader type in the same envelope, Sentry rejects followers or shows them
// without context.
var (
	leaders   = map[sentry.ItemType]bool{sentry.ItemEvent: true, sentry.ItemTransaction: true, sentry.ItemFeedback: true, sentry.ItemReplayEvent: true}
	followers = map[sentry.ItemType]bool{
		sentry.ItemAttachment: true, sentry.ItemProfile: true, sentry.ItemUserReport: true, sentry.ItemReplayRecording: true,
	}
)

// Filter returns the items of an envelope that are forwarded, and adds the others to Omitted.
func (s *Selection) Filter(items []sentry.Frame) (forwarded []sentry.Frame) {
	leading := s.causeOfLeader(items)
	for i := range items {
		item := &items[i]
		why := s.causeOf(&item.Item)
		if followers[item.Header.Type] && leading != (cause{}) {
			why = leading
		}
		if why != (cause{}) {
			s.omit(&item.Item, why)
			continue
		}
		if s.isSampledContainer(item) {
			if left, some := s.sampleContainer(item); some {
				forwarded = append(forwarded, left)
			}
			continue
		}
		forwarded = append(forwarded, *item)
	}
	return forwarded
}

// causeOfLeader returns the reason for omitting the item that the followers depend on.
func (s *Selection) causeOfLeader(items []sentry.Frame) cause {
	for i := range items {
		if leaders[items[i].Header.Type] {
			return s.causeOf(&items[i].Item)
		}
	}
	return cause{}
}

// causeOf returns the reason for omitting an item. Rates take precedence over limits, because they
// always apply. Containers are sampled by element.
func (s *Selection) causeOf(item *sentry.Item) cause {
	switch t := item.Header.Type; {
	case s.isSampled(t) && !isContainer(item) && !s.Rates.forwards(t, s.idOf(item)):
		return causeSampled
	case s.isLimited(item):
		return causeLimited
	}
	return cause{}
}

func (s *Selection) isSampled(t sentry.ItemType) bool {
	_, sampled := s.Rates[t]
	return sampled
}

// idOf returns the ID by which an item is sampled. An item without an ID is sampled by its content,
// so that a retry has the same result.
func (s *Selection) idOf(item *sentry.Item) []byte {
	if id := sentry.CorrelationID(item, &s.Header); id != "" {
		return []byte(id)
	}
	return item.Payload
}

// isLimited reports whether a rate limit of Sentry currently applies to an item. As in Relay, items
// without a category are never limited.
func (s *Selection) isLimited(item *sentry.Item) bool {
	if s.Limits == nil {
		return false
	}
	header := item.Header
	if header.Type == sentry.ItemProfileChunk {
		header.Platform = sentry.PlatformOf(item)
	}
	categories := sentry.LimitedBy(&header)
	if len(categories) == 0 {
		return false
	}
	wait, _ := s.Limits.Of(categories, s.Now)
	return wait > 0
}

// omit adds an item to Omitted.
func (s *Selection) omit(item *sentry.Item, why cause) {
	counted := *item
	if counted.Header.Type == sentry.ItemProfileChunk {
		counted.Header.Platform = sentry.PlatformOf(item)
	}
	for _, q := range sentry.Quantities(&counted) {
		s.Omitted.Add(Loss{why.outcome, why.reason, q.Category}, q.Count)
	}
}

// isContainer reports whether the elements of an item may belong to several traces.
func isContainer(item *sentry.Item) bool {
	switch item.Header.Type {
	case sentry.ItemLog, sentry.ItemTraceMetric:
		return true
	case sentry.ItemSpan:
		return item.Header.ItemCount.Set
	}
	return false
}

func (s *Selection) isSampledContainer(item *sentry.Frame) bool {
	return s.isSampled(item.Header.Type) && isContainer(&item.Item)
}

// sampleContainer removes elements from a container, so that each trace is complete or absent. A
// container that cannot be read is sampled as a whole.
func (s *Selection) sampleContainer(item *sentry.Frame) (left sentry.Frame, some bool) {
	t := item.Header.Type
	payload, kept, omitted, ok := sentry.FilterContainer(item.Payload, func(traceID string) bool {
		if traceID == "" {
			traceID = string(s.idOf(&item.Item))
		}
		return s.Rates.forwards(t, []byte(traceID))
	})
	switch {
	case !ok && s.Rates.forwards(t, s.idOf(&item.Item)) || ok && omitted == 0:
		return *item, true
	case !ok || kept == 0:
		s.omit(&item.Item, causeSampled)
		return sentry.Frame{}, false
	}
	part := sentry.Item{Header: item.Header, Payload: item.Payload[:len(item.Payload)-len(payload)]}
	part.Header.ItemCount.Value, part.Header.ItemCount.Set = omitted, true
	s.omit(&part, causeSampled)
	return item.WithPayload(payload, kept), true
}

// Admits reports whether a request that consists of a single item is forwarded. If it is not,
// Admits adds it to Omitted.
func (s *Selection) Admits(item *sentry.Item) bool {
	why := s.causeOf(item)
	if why != (cause{}) {
		s.omit(item, why)
	}
	return why == (cause{})
}
