// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/spanname"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxSpansListed is the maximum number of spans in the list of a profile or a function.
const maxSpansListed = 100

// spanSamples is a span that has samples.
type spanSamples struct {
	Trace    string `json:"trace"`
	Span     string `json:"span"`
	Name     string `json:"name"` // empty if the span is not stored
	Samples  int64  `json:"samples"`
	Weight   int64  `json:"weight"`
	Start    string `json:"start,omitempty"` // absent if the span is not stored
	Duration uint64 `json:"duration,omitempty"`
}

// storedSpan is a span in the store.
type storedSpan struct {
	name       string
	start, end uint64
}

// listSpans returns spans with their names, heaviest first.
func (v *viewer) listSpans(spans map[timeline.Link]store.Sum, bytes int, omissions *answer.Omissions) []spanSamples {
	links := make([]timeline.Link, 0, len(spans))
	for link := range spans {
		links = append(links, link)
	}
	slices.SortFunc(links, func(a, b timeline.Link) int {
		return cmp.Or(cmp.Compare(spans[b].Weight, spans[a].Weight), slices.Compare(a.Trace[:], b.Trace[:]), slices.Compare(a.Span[:], b.Span[:]))
	})
	links = links[:min(len(links), maxSpansListed)]
	stored := v.storedSpans(links)
	out := []spanSamples{}
	for _, link := range links {
		texts := answer.PerEntry(bytes, len(links), omissions)
		listed := spanSamples{
			Trace: hex.EncodeToString(link.Trace[:]), Span: hexSpan(link.Span), Samples: spans[link].Samples, Weight: spans[link].Weight,
		}
		if span, found := stored[link]; found {
			listed.Name, listed.Start, listed.Duration = texts.Text(span.name), answer.Nanos(span.start), span.end-min(span.start, span.end)
		}
		out = append(out, listed)
	}
	return out
}

// maxSearchedBytes is the maximum size of the messages that are searched for spans. A list with
// some names missing is better than a slow list.
const maxSearchedBytes = 32 << 20

// storedSpans returns the spans that are in the store. It decodes each message only once.
func (v *viewer) storedSpans(links []timeline.Link) map[timeline.Link]storedSpan {
	wanted := make(map[timeline.Link]bool, len(links))
	for _, link := range links {
		wanted[link] = true
	}
	found, bytes, reader := map[timeline.Link]storedSpan{}, 0, store.SpanReader{}
	traces, messages := map[pcommon.TraceID]bool{}, map[*store.Message]bool{} // already searched
	for _, link := range links {
		if traces[link.Trace] {
			continue
		}
		traces[link.Trace] = true
		// A message that cannot be decoded has no names.
		_ = store.EachMessage(v.store.Trace(link.Trace), store.Traces, func(m *store.Message) error {
			if messages[m] || bytes+m.EncodedSize() > maxSearchedBytes || len(found) == len(wanted) {
				return nil
			}
			messages[m], bytes = true, bytes+m.EncodedSize()
			return reader.Each(m, func(span ptrace.Span, _ string) {
				if link := (timeline.Link{Trace: span.TraceID(), Span: span.SpanID()}); wanted[link] {
					found[link] = storedSpan{answer.Display(spanname.Of(span)), uint64(span.StartTimestamp()), uint64(span.EndTimestamp())}
				}
			})
		})
	}
	return found
}
