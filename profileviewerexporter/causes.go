// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"slices"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxCauses is the maximum number of causes in a response. Users read the first few.
const maxCauses = 20

// causeLine is something that takes time: a function of the application with the library functions
// that it calls, a function that waits, or a call to a database or a service.
type causeLine struct {
	Kind      string `json:"kind"`             // function, wait, database or remote
	Name      string `json:"name"`             // name of the function or of the call
	Number    *int32 `json:"number,omitempty"` // ID of the function in requests
	File      string `json:"file,omitempty"`
	Line      int64  `json:"line,omitempty"`      // line with the most weight
	Wait      string `json:"wait,omitempty"`      // library function in which it waits
	Operation string `json:"operation,omitempty"` // operation with most of the weight: the name of its outermost span
	Trace     string `json:"trace,omitempty"`     // of the slowest span of a call
	Span      string `json:"span,omitempty"`
	Weight    int64  `json:"weight"`
	Samples   int64  `json:"samples"`
	Estimated bool   `json:"estimated,omitempty"` // true if the weight is estimated from spans, because no thread waits for the call
}

// cause is what the thread of a sample does, as its stack shows.
type cause struct {
	frame timeline.Frame // innermost function that is not of a library; without one, the innermost function
	wait  timeline.Frame // function that it calls in order to wait; its name is empty if it does not wait
}

// causes sums samples by cause and span.
type causes struct {
	list  []cause
	parts []causeSamples

	indices map[cause]int32         // while it is built
	sums    map[causePart]store.Sum // the same
}

type causePart struct {
	cause int32
	line  int64
	link  timeline.Link
}

// causeSamples are the samples of a cause in a span.
type causeSamples struct {
	causePart
	store.Sum
}

func (c *causes) size() int {
	return int(unsafe.Sizeof(cause{}))*cap(c.list) + int(unsafe.Sizeof(causeSamples{}))*cap(c.parts)
}

// finish lists the sums and releases the maps.
func (c *causes) finish() {
	c.parts = make([]causeSamples, 0, len(c.sums))
	for part, sum := range c.sums {
		c.parts = append(c.parts, causeSamples{part, sum})
	}
	c.list, c.indices, c.sums = slices.Clone(c.list), nil, nil
}

func (c *causes) add(s flame.Selection) {
	if c.sums == nil {
		c.indices, c.sums = map[cause]int32{}, map[causePart]store.Sum{}
	}
	type pair struct {
		stack timeline.StackIndex
		link  timeline.LinkIndex
	}
	sums, p := map[pair]store.Sum{}, s.Profile
	for _, sample := range p.Selected(s.Filter) {
		if sample.Weight > 0 && len(p.Stacks[sample.Stack]) > 0 {
			key := pair{sample.Stack, sample.Link}
			sum := sums[key]
			sums[key] = store.Sum{Samples: sum.Samples + sample.Count, Weight: sum.Weight + sample.Weight}
		}
	}
	for key, more := range sums {
		part := c.partOf(p, key.stack)
		part.link = p.Links[key.link]
		sum := c.sums[part]
		c.sums[part] = store.Sum{Samples: sum.Samples + more.Samples, Weight: sum.Weight + more.Weight}
	}
}

// partOf returns the cause of samples with a stack, and its line.
func (c *causes) partOf(p *timeline.Profile, stack timeline.StackIndex) (part causePart) {
	var found cause
	found, part.line = causeOf(p, stack)
	index, known := c.indices[found]
	if !known {
		index = int32(len(c.list))
		c.indices[found] = index
		c.list = append(c.list, found)
	}
	part.cause = index
	return part
}

// compare orders causes by name. Their numbers depend on the order of maps.
func (c *causes) compare(a, b int32) int {
	if a < 0 || b < 0 {
		return cmp.Compare(a, b)
	}
	x, y := &c.list[a], &c.list[b]
	return cmp.Or(cmp.Compare(x.frame.Name, y.frame.Name), cmp.Compare(x.frame.File, y.frame.File), cmp.Compare(x.wait.Name, y.wait.Name))
}

func causeOf(p *timeline.Profile, stack timeline.StackIndex) (c cause, line int64) {
	waits, callee := p.Waits(stack), timeline.FrameIndex(-1)
	for _, location := range p.Stacks[stack] {
		for _, l := range p.Locations[location].Lines {
			if p.Frames[l.Frame].InApp != timeline.InAppNo && (!waits || callee >= 0) { // no function of an application waits
				if c.frame, line = p.Frames[l.Frame], l.Line; waits && callee >= 0 {
					c.wait = p.Frames[callee]
				}
				return c, line
			}
			if callee = l.Frame; c.frame.Name == "" {
				c.frame, line = p.Frames[l.Frame], l.Line
			}
		}
	}
	if waits {
		c.wait = c.frame
	}
	return c, line
}

// causeID identifies a cause in a response.
type causeID struct {
	cause  int32 // -1: a call
	callee operations.Callee
	call   operations.Name
}

// causeSum is a cause in a response.
type causeSum struct {
	causeID
	store.Sum
	linked    int64 // weight in spans
	estimated bool
	slowest   *operations.Slow
	lines     map[int64]int64
	roots     map[operations.Name]int64
}

// inSpans is the divisor of the time in spans: a cause with at least a twentieth of it precedes
// those outside of spans. A thread outside of spans may block in a function of the application, in
// a call that its profiler does not see, for all of the time; it slows no operation.
const inSpans = 20

// causeLines returns the heaviest causes of a selection. Samples in a call, and in spans below it,
// count for the call.
func (v *viewer) causeLines(s *selection, m *merged, bytes int, omissions *answer.Omissions) []causeLine {
	sums := map[causeID]*causeSum{}
	of := func(id causeID) *causeSum {
		if sums[id] == nil {
			sums[id] = &causeSum{causeID: id, lines: map[int64]int64{}, roots: map[operations.Name]int64{}}
		}
		return sums[id]
	}
	service, visited, linked := s.profiles[0].Service, 0, int64(0)
	places := map[timeline.Link]operations.Place{}
	for _, part := range m.causes.parts {
		more := part.Sum
		place, known := places[part.link]
		if part.link != (timeline.Link{}) && !known && visited <= store.MaxVisitedLinks {
			links := 0
			place, links = v.store.PlaceOf(service, operations.Key(part.link))
			places[part.link] = place
			visited += links
		}
		id := causeID{cause: part.cause}
		if place.Callee != operations.None {
			id = causeID{cause: -1, callee: place.Callee, call: place.Call}
		}
		sum := of(id)
		sum.Samples, sum.Weight = sum.Samples+more.Samples, sum.Weight+more.Weight
		if part.link != (timeline.Link{}) {
			sum.linked += more.Weight
			linked += more.Weight
		}
		sum.lines[part.line] += more.Weight
		sum.roots[place.Root] += more.Weight
	}
	if s.service != "" && m.graph.Measure.Unit == "nanoseconds" {
		v.addCalls(s, of)
	}
	list := make([]*causeSum, 0, len(sums))
	for _, sum := range sums {
		list = append(list, sum)
	}
	first := func(c *causeSum) int {
		if c.cause < 0 || c.linked > 0 && c.linked >= linked/inSpans {
			return 0
		}
		return 1
	}
	slices.SortFunc(list, func(a, b *causeSum) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(b.Weight, a.Weight), byName(a.call, b.call), m.causes.compare(a.cause, b.cause))
	})
	list = list[:min(len(list), maxCauses)]
	var out []causeLine
	for _, sum := range list {
		texts := answer.PerEntry(bytes, len(list), omissions)
		out = append(out, sum.describe(m, &texts))
	}
	return out
}

// addCalls adds the calls of a service: an asynchronous one has no samples, as no thread waits for
// it. Their time during the profiles is estimated from all stored spans.
func (v *viewer) addCalls(s *selection, of func(causeID) *causeSum) {
	figures, start, end := v.store.Operations(s.service)
	part := float64(s.covered()) / float64(max(1, end-min(start, end)))
	for i := range figures {
		f := &figures[i]
		for callee, duration := range f.Calls {
			weight := int64(float64(duration) * min(1, part))
			if operations.Callee(callee) == operations.None || weight == 0 {
				continue
			}
			sum := of(causeID{cause: -1, callee: operations.Callee(callee), call: f.Name})
			sum.slowest = &f.Slowest[0]
			if weight > 2*sum.Weight { // a sampled call has about the time of its spans
				sum.Weight, sum.estimated = weight, true
			}
			if len(sum.roots) == 0 {
				place, _ := v.store.PlaceOf(s.service, f.Slowest[0].Key)
				sum.roots[place.Root] = weight
			}
		}
	}
}

// covered returns the time that the selected profiles cover, in nanoseconds.
func (s *selection) covered() (sum uint64) {
	profiles := slices.SortedFunc(slices.Values(s.profiles), func(a, b *store.Profile) int { return cmp.Compare(a.Start, b.Start) })
	end := s.within.From
	for _, p := range profiles {
		from, to := max(p.Start, end), p.End
		if s.within.To > 0 {
			to = min(to, s.within.To)
		}
		if to > from {
			sum, end = sum+to-from, to
		}
	}
	return sum
}

func (c *causeSum) describe(m *merged, texts *answer.Budget) causeLine {
	out := causeLine{Kind: "function", Weight: c.Weight, Samples: c.Samples, Estimated: c.estimated}
	if root := heaviest(c.roots, byName); root.Name != "" && root != c.call {
		out.Operation = texts.Text(root.Name)
	}
	if c.slowest != nil {
		out.Trace, out.Span = hex.EncodeToString(c.slowest.Trace[:]), hexSpan(c.slowest.Span)
	}
	switch {
	case c.callee == operations.Database:
		out.Kind = "database"
	case c.callee == operations.Remote:
		out.Kind = "remote"
	}
	if c.cause < 0 {
		out.Name = texts.Text(c.call.Name)
		return out
	}
	is := &m.causes.list[c.cause]
	out.Name, out.File, out.Line = texts.Text(is.frame.DisplayName()), texts.Text(is.frame.File), heaviest(c.lines, cmp.Compare[int64])
	if number := int32(slices.Index(m.graph.Frames, is.frame)); number >= 0 {
		out.Number = &number
	}
	if is.wait.Name != "" {
		out.Kind, out.Wait = "wait", texts.Text(is.wait.DisplayName())
	}
	return out
}

// heaviest returns the key with the most weight; of several, the first in an order.
func heaviest[K comparable](weights map[K]int64, order func(a, b K) int) (key K) {
	most := int64(-1)
	for k, weight := range weights {
		if weight > most || weight == most && order(k, key) < 0 {
			key, most = k, weight
		}
	}
	return key
}

func byName(a, b operations.Name) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}
