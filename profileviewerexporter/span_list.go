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
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxSpansListed is the maximum number of spans in the list of a profile or a function.
const maxSpansListed = 100

// spanSamples is a span that has samples.
type spanSamples struct {
	Trace   string `json:"trace"`
	Span    string `json:"span"`
	Name    string `json:"name"` // empty if the span is not in the store
	Samples int64  `json:"samples"`
	Weight  int64  `json:"weight"`
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
	names := v.spanNames(links)
	out := []spanSamples{}
	for _, link := range links {
		texts := answer.PerEntry(bytes, len(links), omissions)
		out = append(out, spanSamples{
			Trace: hex.EncodeToString(link.Trace[:]), Span: hexSpan(link.Span), Name: texts.Text(names[link]),
			Samples: spans[link].Samples, Weight: spans[link].Weight,
		})
	}
	return out
}

// maxNamingBytes is the maximum size of the messages that are searched for names. A list with some
// names missing is better than a slow list.
const maxNamingBytes = 32 << 20

// spanNames returns the names of the spans that are in the store. It decodes each message only
// once.
func (v *viewer) spanNames(links []timeline.Link) map[timeline.Link]string {
	wanted := make(map[timeline.Link]bool, len(links))
	for _, link := range links {
		wanted[link] = true
	}
	names, bytes, reader := map[timeline.Link]string{}, 0, store.SpanReader{}
	traces, messages := map[pcommon.TraceID]bool{}, map[*store.Message]bool{} // already searched
	for _, link := range links {
		if traces[link.Trace] {
			continue
		}
		traces[link.Trace] = true
		// A message that cannot be decoded has no names.
		_ = store.EachMessage(v.store.Trace(link.Trace), store.Traces, func(m *store.Message) error {
			if messages[m] || bytes+m.EncodedSize() > maxNamingBytes || len(names) == len(wanted) {
				return nil
			}
			messages[m], bytes = true, bytes+m.EncodedSize()
			return reader.Each(m, func(span ptrace.Span, _ string) {
				if link := (timeline.Link{Trace: span.TraceID(), Span: span.SpanID()}); wanted[link] {
					names[link] = answer.Display(span.Name())
				}
			})
		})
	}
	return names
}
