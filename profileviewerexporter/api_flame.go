// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxTop is the maximum number of functions in the table.
const maxTop = 200

// graphAnswer is the common part of all graphs.
type graphAnswer struct {
	answer.Omissions
	Profiles []string              `json:"profiles"` // IDs of the selected profiles
	Origin   string                `json:"origin"`   // earliest start of the selected profiles
	Measure  catalog.MeasureAnswer `json:"measure"`
	Total    int64                 `json:"total"` // total weight of the selection
	Idle     int64                 `json:"idle"`
	Samples  int64                 `json:"samples"`
	Cut      int64                 `json:"cut"` // number of samples with truncated stacks
	drawingAnswer
	Frames []frameAnswer `json:"frames"` // functions of the boxes
}

// frameAnswer describes a function.
type frameAnswer struct {
	Number int32  `json:"number"` // ID of the function in requests
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Module string `json:"module,omitempty"`
	InApp  *bool  `json:"in_app,omitempty"` // absent if unknown
	Guess  bool   `json:"guess,omitempty"`  // true if in_app is a guess
}

// flameAnswer is a merged graph. The lists describe the selection; a request for a part of the
// graph (left, right) or for another view of it has none.
type flameAnswer struct {
	graphAnswer
	Matched      *int64        `json:"matched,omitempty"`      // weight of the functions that the search matches
	Waiting      int64         `json:"waiting,omitempty"`      // weight of samples of threads that wait outside of spans, which active=1 omits
	Minified     int64         `json:"minified,omitempty"`     // self weight of functions whose names are probably minified
	Symbolicated bool          `json:"symbolicated,omitempty"` // true if some names come from symbol files
	Top          []topLine     `json:"top,omitempty"`          // highest self weight first
	Causes       []causeLine   `json:"causes,omitempty"`       // what takes the time, those in spans first, heaviest first; absent if the query changes stacks
	Threads      []threadShare `json:"threads,omitempty"`      // heaviest first, at most 200; absent if the query selects a thread
	Spans        []spanSamples `json:"spans,omitempty"`        // absent if the query selects a span or changes stacks
}

type threadShare struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

type topLine struct {
	frameAnswer
	Self  int64 `json:"self"`
	Total int64 `json:"total"`
}

// orderedAnswer is a graph in order of time.
type orderedAnswer struct {
	graphAnswer
	From uint64 `json:"from"` // offset in nanoseconds
	To   uint64 `json:"to"`
}

// merged is the sum of a selection.
type merged struct {
	graph        *flame.Graph
	threads      threadShares
	spans        map[timeline.Link]store.Sum
	causes       causes
	symbolicated bool
	waiting      int64
}

func (m *merged) Size() int { return m.graph.Size() + spanSize*len(m.spans) + m.causes.size() }

// spanSize is the approximate size of an entry of merged.spans.
const spanSize = 64

// merge returns the sum of a selection.
func (v *viewer) merge(s *selection) (*merged, error) {
	return cached(&v.graphs, "merged "+s.key(), func() (*merged, error) {
		m := &merged{spans: map[timeline.Link]store.Sum{}}
		var err error
		m.graph, err = flame.New(func(visit func(flame.Selection) error) error {
			return s.each(func(one flame.Selection) error {
				m.threads.add(one)
				m.addSpans(one)
				m.addWaiting(one)
				m.symbolicated = m.symbolicated || one.Profile.Symbolicated
				if err := visit(one); err != nil {
					return err
				}
				m.causes.add(one)
				return nil
			})
		})
		m.causes.finish()
		return m, err
	})
}

func (m *merged) addSpans(s flame.Selection) {
	for _, sample := range s.Profile.Selected(s.Filter) {
		if link := s.Profile.Links[sample.Link]; link != (timeline.Link{}) && sample.Weight > 0 {
			sum := m.spans[link]
			m.spans[link] = store.Sum{Samples: sum.Samples + sample.Count, Weight: sum.Weight + sample.Weight}
		}
	}
}

func (m *merged) addWaiting(s flame.Selection) {
	s.Filter.Active = false
	for _, sample := range s.Profile.Selected(s.Filter) {
		if !s.Profile.Active(sample) {
			m.waiting += sample.Weight
		}
	}
}

func (v *viewer) flameGraph(r *http.Request) (any, error) {
	query := r.URL.Query()
	s, err := v.selectionOf(query)
	if err != nil {
		return nil, err
	}
	window, err := parseWindow(query)
	if err != nil {
		return nil, err
	}
	tag := s.tag(v.created)
	if current(r, tag) {
		return notModified{}, nil
	}
	m, err := v.merge(s)
	if err != nil {
		return nil, err
	}
	graph, key, err := v.changed(query, s, m.graph)
	if err != nil {
		return nil, err
	}
	isChanged := graph != m.graph
	if graph, err = v.viewOf(query, key, graph); err != nil {
		return nil, err
	}
	var out flameAnswer
	if window.Match = matching(graph, query.Get("q")); window.Match != nil {
		matched := graph.Matched(window.Match)
		out.Matched = &matched
	}
	out.describe(s, graph, graph.Draw(window))
	out.Symbolicated, out.Waiting = m.symbolicated, m.waiting
	if partial(query) || query.Has("view") {
		return tagged{out, tag}, nil
	}
	totals := graph.Top()
	totals = totals[:min(maxTop, len(totals))]
	for _, f := range totals {
		if graph.Frames[f.Frame].Minified() {
			out.Minified += f.Self
		}
		texts := answer.PerEntry(maxDrawingTexts/8, len(totals), &out.Omissions)
		out.Top = append(out.Top, topLine{describeFrame(graph, f.Frame, &texts), f.Self, f.Total})
	}
	if s.thread == nil {
		out.Threads = m.threads.list(maxDrawingTexts/8, &out.Omissions)
	}
	if !isChanged {
		out.Causes = v.causeLines(s, m, maxDrawingTexts/8, &out.Omissions)
	}
	if s.link == nil && !isChanged {
		out.Spans = v.listSpans(m.spans, maxDrawingTexts/4, &out.Omissions)
	}
	return tagged{out, tag}, nil
}

// changed returns a merged graph with the stacks that the query changes, and its key in the cache.
// The values are numbers of functions; see [flame.Change]:
//
//	focus=17&hide=3,9&fold=4
func (v *viewer) changed(query url.Values, s *selection, graph *flame.Graph) (*flame.Graph, string, error) {
	var change flame.Change
	key := s.key()
	for name, list := range map[string]*[]int32{"focus": &change.Focus, "hide": &change.Hide, "fold": &change.Fold} {
		for _, text := range strings.FieldsFunc(query.Get(name), func(r rune) bool { return r == ',' }) {
			frame, err := number(url.Values{name: {text}}, name, len(graph.Frames))
			if err != nil {
				return nil, "", err
			}
			if len(*list) == maxChanged {
				return nil, "", badRequest("%s: has more than %d functions", name, maxChanged)
			}
			*list = append(*list, frame)
		}
	}
	if change.IsNone() {
		return graph, key, nil
	}
	key = fmt.Sprint("changed ", change, " ", key)
	graph, err := cached(&v.graphs, key, func() (*flame.Graph, error) { return graph.Changed(change) })
	return graph, key, err
}

// maxChanged is the maximum number of functions in each list of a change. Users choose them one by
// one.
const maxChanged = 50

// viewOf returns the view of a merged graph that the query selects:
//
//	view=inverted              running functions first, their callers below
//	view=callers&function=17   callers of the function with this number
//	view=callees&function=17   its calls
func (v *viewer) viewOf(query url.Values, key string, graph *flame.Graph) (*flame.Graph, error) {
	view := query.Get("view")
	var build func() (*flame.Graph, error)
	switch view {
	case "":
		return graph, nil
	case "inverted":
		build = graph.Inverted
	case "callers", "callees":
		frame, err := number(query, "function", len(graph.Frames))
		if err != nil {
			return nil, err
		}
		build = func() (*flame.Graph, error) { return graph.Callees(frame) }
		if view == "callers" {
			build = func() (*flame.Graph, error) { return graph.Callers(frame) }
		}
		view += " " + strconv.Itoa(int(frame))
	default:
		return nil, badRequest("view: %q is unknown; use inverted, callers or callees", answer.Display(view))
	}
	return cached(&v.graphs, view+" "+key, build)
}

// threadShares sums the selected samples by thread.
type threadShares struct {
	indices map[string]int
	shares  []threadShare
}

func (t *threadShares) add(s flame.Selection) {
	if t.indices == nil {
		t.indices = map[string]int{}
	}
	for i, sample := range s.Profile.Selected(s.Filter) {
		thread := &s.Profile.Threads[i]
		index, known := t.indices[thread.ID]
		if !known {
			index = len(t.shares)
			t.indices[thread.ID] = index
			t.shares = append(t.shares, threadShare{ID: thread.ID, Name: thread.Name})
		}
		if len(s.Profile.Stacks[sample.Stack]) > 0 {
			t.shares[index].Weight += sample.Weight
		}
	}
}

func (t *threadShares) list(bytes int, omissions *answer.Omissions) []threadShare {
	slices.SortStableFunc(t.shares, func(a, b threadShare) int { return cmp.Compare(b.Weight, a.Weight) })
	out := t.shares[:min(len(t.shares), maxListed)]
	for i := range out {
		texts := answer.PerEntry(bytes, len(out), omissions)
		out[i].ID, out[i].Name = texts.Text(out[i].ID), texts.Text(out[i].Name)
	}
	return out
}

func (v *viewer) orderedGraph(r *http.Request) (any, error) {
	s, err := v.selectionOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	if s.thread == nil {
		return nil, badRequest("thread: is missing; a graph in order of time shows one thread")
	}
	window, err := parseWindow(r.URL.Query())
	if err != nil {
		return nil, err
	}
	tag := s.tag(v.created)
	if current(r, tag) {
		return notModified{}, nil
	}
	graph, err := cached(&v.graphs, "ordered "+s.key(), func() (*flame.Ordered, error) { return flame.InOrder(s.each) })
	if err != nil {
		return nil, err
	}
	window.Match = matching(graph.Graph, r.URL.Query().Get("q"))
	var out orderedAnswer
	out.From, out.To = offset(graph.From, s.origin), offset(graph.To, s.origin)
	out.describe(s, graph.Graph, graph.Draw(window, s.origin))
	return tagged{out, tag}, nil
}

func (a *graphAnswer) describe(s *selection, graph *flame.Graph, drawing flame.Drawing) {
	for _, p := range s.profiles {
		a.Profiles = append(a.Profiles, strconv.FormatUint(p.ID, 10))
	}
	frames := frameList{indices: map[int32]int64{}}
	a.draw(drawing, &frames, graph.Reverse)
	texts := answer.PerEntry(maxDrawingTexts, len(frames.list)+1, &a.Omissions)
	a.Origin, a.Measure = answer.Nanos(s.origin), catalog.ListMeasure(s.profiles[0].Measure, &texts)
	a.Total, a.Idle, a.Samples, a.Cut = graph.Tree[0].Total, graph.Idle, graph.Samples, graph.Cut
	a.Frames = make([]frameAnswer, 0, len(frames.list))
	for _, frame := range frames.list {
		texts := answer.PerEntry(maxDrawingTexts, len(frames.list)+1, &a.Omissions)
		a.Frames = append(a.Frames, describeFrame(graph, frame, &texts))
	}
}

func describeFrame(graph *flame.Graph, number int32, texts *answer.Budget) frameAnswer {
	frame := &graph.Frames[number]
	out := frameAnswer{Number: number, Name: texts.Text(frame.DisplayName()), File: texts.Text(frame.File), Module: texts.Text(frame.Module)}
	if frame.InApp != timeline.InAppUnknown {
		inApp := frame.InApp == timeline.InAppYes
		out.InApp, out.Guess = &inApp, frame.Guessed
	}
	return out
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
