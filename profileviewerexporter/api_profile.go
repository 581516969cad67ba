// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
)

// profileAnswer describes one profile, without its samples.
type profileAnswer struct {
	answer.Omissions
	catalog.ProfileListing
	Resource   []answer.Attribute `json:"resource"`
	Scope      string             `json:"scope"`
	Attributes []answer.Attribute `json:"attributes"`
	ThreadList []threadAnswer     `json:"thread_list"` // at most 200; the page opens the first
	SpanList   []spanSamples      `json:"span_list"`   // heaviest first
	Broken     int                `json:"broken"`      // number of invalid references
}

type threadAnswer struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Samples  int64     `json:"samples"`
	Busy     int64     `json:"busy"`               // weight of samples with a stack
	Idle     int64     `json:"idle"`               // weight of samples without a stack
	Activity []float32 `json:"activity,omitempty"` // fraction of each time step that the thread was busy (0 to 1); absent if times are unknown
}

// activitySteps is the number of steps of an activity chart. Each step is a few pixels wide.
const activitySteps = 200

func (v *viewer) profileDetail(r *http.Request) (any, error) {
	s, err := v.selectionOf(map[string][]string{"profile": {r.PathValue("profile")}})
	if err != nil {
		return nil, err
	}
	summary := s.profiles[0]
	out := profileAnswer{ThreadList: []threadAnswer{}}
	// The profile itself, its attributes, its threads and its spans each get a quarter of the
	// response.
	texts := answer.PerEntry(answer.MaxTexts/4, 1, &out.Omissions)
	out.ProfileListing = catalog.ListProfile(summary, &texts)
	out.Traces = texts.Lines(v.store.TraceNames().Of(summary))
	p, err := s.read(summary)
	if err != nil {
		return nil, err
	}
	out.Broken = p.Broken
	resource := s.decoded.content.ResourceProfiles().At(summary.Position.Resource)
	scope := resource.ScopeProfiles().At(summary.Position.Scope).Scope()
	out.Scope = texts.Text(strings.TrimSpace(scope.Name() + " " + scope.Version()))
	half := answer.PerEntry(answer.MaxTexts/4, 2, &out.Omissions)
	out.Resource = half.Map(resource.Resource().Attributes())
	half = answer.PerEntry(answer.MaxTexts/4, 2, &out.Omissions)
	attributes, _ := p.View.Attributes(p.OTLP.AttributeIndices(), nil)
	out.Attributes = half.List(attributes)
	listed := orderedThreads(p, maxListed)
	for _, thread := range listed {
		texts := answer.PerEntry(answer.MaxTexts/4, len(listed), &out.Omissions)
		out.ThreadList = append(out.ThreadList, describeThread(p, thread, summary.End, &texts))
	}
	out.SpanList = v.listSpans(summary.Spans, answer.MaxTexts/4, &out.Omissions)
	return out, nil
}

func describeThread(p *timeline.Profile, t *timeline.Thread, end uint64, texts *answer.Budget) threadAnswer {
	out := threadAnswer{ID: texts.Text(t.ID), Name: texts.Text(t.Name)}
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

// spread distributes a length, in steps, over the steps after a point; a step is at most 1.
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

func offset(t, origin uint64) uint64 { return t - min(t, origin) }

// number parses a number below size. It returns 0 if the query does not contain the key.
func number(query url.Values, key string, size int) (int32, error) {
	text := query.Get(key)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || int(n) >= size {
		return 0, badRequest("%s: %q is not a number below %d", key, answer.Display(text), size)
	}
	return int32(n), nil
}
