package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

// profileAnswer is one profile, without its samples.
type profileAnswer struct {
	profileListing
	Resource   []attributeAnswer `json:"resource"`
	Scope      string            `json:"scope"`
	Attributes []attributeAnswer `json:"attributes"`
	ThreadList []threadAnswer    `json:"thread_list"` // the busiest first
	SpanList   []spanSamples     `json:"span_list"`   // the heaviest first
	Broken     int               `json:"broken"`
}

type attributeAnswer struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

type threadAnswer struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Samples int64  `json:"samples"`
	Busy    int64  `json:"busy"` // weight of samples with a stack
	Idle    int64  `json:"idle"`
	// Activity is how busy the thread was over the time of the profile: equal steps, from 0 to 1. Absent where times are not known.
	Activity []float32 `json:"activity,omitempty"`
}

// spanSamples is a span that has samples.
type spanSamples struct {
	Trace   string `json:"trace"`
	Span    string `json:"span"`
	Name    string `json:"name"` // empty where the span is not kept
	Samples int64  `json:"samples"`
	Weight  int64  `json:"weight"`
}

const (
	// activitySteps: one for some pixels.
	activitySteps = 200
	// maxSpansListed of a profile or a function.
	maxSpansListed = 100
)

func (v *viewer) profileDetail(r *http.Request) (any, error) {
	s, err := v.selectionOf(map[string][]string{"profile": {r.PathValue("profile")}})
	if err != nil {
		return nil, err
	}
	summary := s.profiles[0]
	out := profileAnswer{profileListing: listProfile(summary), ThreadList: []threadAnswer{}}
	err = v.with(r.Context(), s, func(list []flame.Selection) error {
		p := list[0].Profile
		out.Broken = p.Broken
		resource := s.decoded[summary.message].ResourceProfiles().At(summary.position.resource)
		scope := resource.ScopeProfiles().At(summary.position.scope).Scope()
		out.Resource, out.Scope = listMap(resource.Resource().Attributes()), shorten(strings.TrimSpace(scope.Name()+" "+scope.Version()))
		attributes, _ := p.View.Attributes(p.OTLP.AttributeIndices(), nil)
		out.Attributes = listAttributes(attributes)
		for i := range p.Threads {
			if len(p.Threads[i].Samples) > 0 {
				out.ThreadList = append(out.ThreadList, describeThread(p, &p.Threads[i], summary.end))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out.ThreadList, func(a, b threadAnswer) int { return cmp.Compare(b.Busy, a.Busy) })
	out.SpanList = v.listSpans(summary.spans)
	return out, nil
}

func describeThread(p *timeline.Profile, t *timeline.Thread, end uint64) threadAnswer {
	out := threadAnswer{ID: shorten(t.ID), Name: shorten(t.Name)}
	step := float64(end-min(p.Start, end)) / activitySteps
	timed := p.Measure.Unit == "nanoseconds" && step > 0
	if timed {
		out.Activity = make([]float32, activitySteps)
	}
	for i := range t.Samples {
		s := &t.Samples[i]
		out.Samples += s.Count
		if len(p.Stacks[s.Stack]) == 0 {
			out.Idle += s.Weight
			continue
		}
		out.Busy += s.Weight
		if timed && s.Time >= p.Start {
			spread(out.Activity, float64(s.Time-p.Start)/step, float64(s.Weight)/step)
		}
	}
	return out
}

// spread adds length steps from a point on to the steps they fall into, each up to 1.
func spread(steps []float32, from, length float64) {
	for length > 0 && int(from) < len(steps) {
		part := min(length, float64(int(from)+1)-from)
		steps[int(from)] = min(1, steps[int(from)]+float32(part))
		if part <= 0 {
			return
		}
		from, length = float64(int(from)+1), length-part
	}
}

func listAttributes(list []dictionary.Attribute) []attributeAnswer {
	out := make([]attributeAnswer, 0, len(list))
	for _, a := range list {
		out = append(out, attributeAnswer{shorten(a.Key), shorten(a.Value.AsString()), shorten(a.Unit)})
	}
	return out
}

func listMap(m pcommon.Map) []attributeAnswer {
	out := make([]attributeAnswer, 0, m.Len())
	for key, value := range m.All() {
		out = append(out, attributeAnswer{Key: shorten(key), Value: shorten(value.AsString())})
	}
	return out
}

// listSpans names spans and puts the heaviest first.
func (v *viewer) listSpans(spans map[timeline.Link]linked) []spanSamples {
	out := make([]spanSamples, 0, len(spans))
	for link, l := range spans {
		out = append(out, spanSamples{
			Trace: hex.EncodeToString(link.Trace[:]), Span: hex.EncodeToString(link.Span[:]), Samples: l.samples, Weight: l.weight,
		})
	}
	slices.SortFunc(out, func(a, b spanSamples) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Span, b.Span))
	})
	out = out[:min(len(out), maxSpansListed)]
	names := v.spanNames(out)
	for i := range out {
		out[i].Name = names[out[i].Span]
	}
	return out
}

func offset(t, origin uint64) uint64 { return t - min(t, origin) }

// number reads a number below size; 0 where the query has none.
func number(query url.Values, key string, size int) (int32, error) {
	text := query.Get(key)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || int(n) >= size {
		return 0, badRequest("%s: %q is no number below %d", key, shorten(text), size)
	}
	return int32(n), nil
}
