// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Reader reads the profiles of one message. It resolves shared entries only once, because a message
// may have a hundred thousand profiles that share a deep stack. The tables of a profile may
// therefore contain entries of earlier profiles.
type Reader struct {
	reader
	stacks    []Stack
	locations []Location
	frames    []Frame

	symbolicated bool // a location that was read
}

// NewReader returns a Reader of the profiles of a message with this dictionary.
func NewReader(d pprofile.ProfilesDictionary) *Reader {
	return &Reader{
		reader: reader{
			stacks: map[int32]StackIndex{0: 0},
			code: code{
				texts:     newTexts(dictionary.NewView(d)),
				locations: map[dictionary.LocationIndex]LocationIndex{},
				frames:    map[Frame]FrameIndex{},
			},
		},
		stacks: make([]Stack, 1),
	}
}

// Raw makes the reader return symbolicated frames as the profiler wrote them. It must be called
// before the first profile is read.
func (r *Reader) Raw() { r.useRaw = true }

// Read reads a profile of the message. It omits and counts broken references, and clips texts
// longer than MaxText.
func (r *Reader) Read(p pprofile.Profile) *Profile {
	r.profile, r.threads, r.links = p, map[string]ThreadIndex{}, map[Link]LinkIndex{{}: 0}
	r.out = &Profile{
		Links: make([]Link, 1), Stacks: r.stacks, Locations: r.locations, Frames: r.frames,
		View: r.view, OTLP: p, Start: uint64(p.Time()), Symbolicated: r.symbolicated,
	}
	if p.Time() > 0 && p.DurationNano() > 0 {
		r.out.End = r.out.Start + p.DurationNano()
	}
	scale := r.scale()
	for i := range p.Samples().Len() {
		r.sample(int32(i), p.Samples().At(i), scale)
	}
	r.weigh(scale)
	r.stacks, r.locations, r.frames, r.symbolicated = r.out.Stacks, r.out.Locations, r.out.Frames, r.out.Symbolicated
	return r.out
}

type reader struct {
	profile pprofile.Profile
	out     *Profile
	threads map[string]ThreadIndex
	links   map[Link]LinkIndex
	stacks  map[int32]StackIndex
	code
	list []dictionary.LocationIndex
}

// sample adds the observations of one OTLP sample to its thread.
func (r *reader) sample(source int32, s pprofile.Sample, scale scale) {
	base := Sample{Count: 1, Stack: r.stack(s.StackIndex()), Link: r.link(s.LinkIndex()), Source: source}
	thread := &r.out.Threads[r.thread(s.AttributeIndices())]
	times, values := s.TimestampsUnixNano(), s.Values()
	if times.Len() == 0 {
		for i := range values.Len() {
			base.Weight = scale.of(values.At(i))
			base.Count = scale.count(values.At(i))
			thread.Samples = append(thread.Samples, base)
		}
		return
	}
	if values.Len() != 0 && values.Len() != times.Len() {
		r.out.Broken++
		return
	}
	thread.Samples = slices.Grow(thread.Samples, times.Len())
	for i := range times.Len() {
		base.Time, base.Weight = times.At(i), scale.of(1)
		if values.Len() > 0 {
			base.Weight, base.Count = scale.of(values.At(i)), scale.count(values.At(i))
		}
		thread.Samples = append(thread.Samples, base)
	}
}

// thread returns the thread of a sample. Threads are identified by ID, because names may repeat and
// change.
func (r *reader) thread(attributes pcommon.Int32Slice) ThreadIndex {
	id, name := r.attribute(attributes, semconv.ThreadID), r.attribute(attributes, semconv.ThreadName)
	key := "i" + id
	if id == "" && name != "" {
		key = "n" + name
	}
	i, known := r.threads[key]
	if !known {
		i = ThreadIndex(len(r.out.Threads))
		r.threads[key] = i
		r.out.Threads = append(r.out.Threads, Thread{ID: cmp.Or(id, name)})
	}
	if r.out.Threads[i].Name == "" {
		r.out.Threads[i].Name = name
	}
	return i
}

func (r *reader) link(index int32) LinkIndex {
	trace, span, ok := r.view.Link(dictionary.LinkIndex(index))
	if !ok {
		r.out.Broken++
	}
	link := Link{trace, span}
	i, known := r.links[link]
	if !known {
		i = LinkIndex(len(r.out.Links))
		r.links[link] = i
		r.out.Links = append(r.out.Links, link)
	}
	return i
}

func (r *reader) stack(index int32) StackIndex {
	if i, known := r.stacks[index]; known {
		return i
	}
	var ok bool
	r.list, ok = r.view.Stack(dictionary.StackIndex(index), r.list[:0])
	stack := make(Stack, 0, len(r.list))
	for _, location := range r.list {
		if location == 0 {
			continue // missing or broken
		}
		stack = append(stack, r.location(location))
	}
	if !ok {
		r.out.Broken++
	}
	if r.idle(stack) {
		r.stacks[index] = 0
		return 0
	}
	i := StackIndex(len(r.out.Stacks))
	r.stacks[index] = i
	r.out.Stacks = append(r.out.Stacks, stack)
	return i
}

// idleName is the function in V8's samples of idle threads. Other profilers send samples without a
// stack.
const idleName = "(idle)"

func (r *reader) idle(stack Stack) bool {
	return len(stack) == 0 || r.out.Frames[r.out.Locations[stack[0]].Lines[0].Frame].Name == idleName
}

func (r *reader) location(index dictionary.LocationIndex) LocationIndex {
	location, broken := r.code.location(index, r.out)
	r.out.Broken += broken
	return location
}
