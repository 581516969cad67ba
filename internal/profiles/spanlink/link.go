// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// Link links the samples of a message, which it changes, to the spans that are in the index.
func (x *Index) Link(p pprofile.Profiles, o Options) LinkStats {
	l := newLinker(x, p, o)
	defer l.release()
	eachProfile(&x.keys, p, func(profile pprofile.Profile, said values, program *Session) bool {
		l.profile(profile, said, program)
		return true
	})
	if l.linked && l.changed {
		dictionary.Compact(p) // links may have become orphans, and samples the same
	}
	return l.stats
}

// Concerns says whether any sample of a message could be linked, if there were a span. The index takes note of the sessions: the
// message may wait before it is linked, and then others are to know of it.
func (x *Index) Concerns(p pprofile.Profiles, now time.Time) bool {
	var places places
	places.open(&x.keys, p.Dictionary())
	concerned := false
	eachProfile(&x.keys, p, func(profile pprofile.Profile, said values, program *Session) bool {
		place := places.anyKnown(profile, said)
		concerned = concerned || place != nil
		if place != nil && program != nil {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.sawProfile(program, place.sessions[0], now)
			x.makeRoom()
			return true
		}
		return !concerned
	})
	return concerned
}

// eachProfile goes through the profiles of a message, with what scope and resource say.
func eachProfile(keys *compiledKeys, p pprofile.Profiles, do func(pprofile.Profile, values, *Session) bool) {
	for _, resource := range p.ResourceProfiles().All() {
		var ofResource values
		keys.read(resource.Resource().Attributes(), &ofResource)
		program := keys.programOf(resource.Resource().Attributes(), &ofResource)
		for _, scope := range resource.ScopeProfiles().All() {
			ofScope := ofResource
			keys.read(scope.Scope().Attributes(), &ofScope)
			for _, profile := range scope.Profiles().All() {
				if !do(profile, ofScope, program) {
					return
				}
			}
		}
	}
}

// linker links one message.
type linker struct {
	index   *Index
	options Options
	view    dictionary.View
	links   *dictionary.Links
	stats   LinkStats

	work    int  // spans that were compared with places so far
	linked  bool // some sample came with a link
	changed bool // some sample has another link

	// Of the profile. What these hold on to beyond a message is memory.
	places    places
	found     []*interval
	runs      []run // of the places, one after another
	forest    forest
	linkOf    []dictionary.LinkIndex // by span of the forest; 0 if not asked for yet
	timelines timelines
	split     splitter
}

var linkers = sync.Pool{New: func() any { return new(linker) }}

func newLinker(x *Index, p pprofile.Profiles, o Options) *linker {
	l := linkers.Get().(*linker)
	l.index, l.options, l.stats, l.work, l.linked, l.changed = x, o, LinkStats{}, 0, false, false
	l.view, l.links = dictionary.NewView(p.Dictionary()), dictionary.NewLinks(p.Dictionary())
	l.places.open(&x.keys, p.Dictionary())
	return l
}

// maxPooled bounds the memory that is kept, in bytes: 57,000 observations on 5,800 spans take 2 MB.
const maxPooled = 16 << 20

// release gives the memory back, and everything that points into the message or the index.
func (l *linker) release() {
	l.links.Release()
	l.places.close()
	l.index, l.options, l.view, l.links = nil, Options{}, dictionary.View{}, nil
	if l.memory() <= maxPooled {
		linkers.Put(l)
	}
}

// memory is what is kept, roughly.
func (l *linker) memory() int {
	spans := 72*cap(l.runs) + 80*cap(l.forest.trees) + 16*cap(l.timelines.pieces) + 4*cap(l.timelines.cells)
	samples := 16*cap(l.places.of) + 20*cap(l.split.stretches) + 16*cap(l.split.times) + 4*cap(l.split.groupOf)
	return spans + samples + 17*cap(l.places.texts) + 400*cap(l.places.list)
}

// profile links the samples of one profile.
func (l *linker) profile(profile pprofile.Profile, said values, program *Session) {
	l.places.read(profile, said, l.options.Shift)
	if l.options.Session != (Session{}) {
		l.places.setSession(l.options.Session)
		program = nil
	}
	l.collect(program)
	l.timelines.begin()
	for i := range l.places.list {
		place := &l.places.list[i]
		place.timeline = l.timelines.make(&l.forest, place.runs, l.options.Ambiguous, place.first, place.last)
	}

	samples := profile.Samples()
	l.split.begin()
	for i, at := range l.places.of {
		if at == none || samples.At(i).AttributeIndices().Len() > maxAttributes {
			l.keep(samples.At(i))
			continue
		}
		l.split.sample(int32(i))
		l.decide(samples.At(i), &l.places.list[at])
	}
	changed := l.split.apply(samples)
	l.changed = l.changed || changed
	if changed && !l.options.KeepPayload {
		profile.SetOriginalPayloadFormat("")
		profile.OriginalPayload().FromRaw(nil)
	}
}

// maxAttributes of a sample that is split: each part repeats them all, so that a message of two megabytes, a million attributes
// on a hundred thousand observations, would become one of a hundred gigabytes. Profilers state ten or so.
const maxAttributes = 32

// MaxGrowth is by how much linking makes a message larger at most: an observation has 8 bytes, and may become a sample of its own
// with a stack, maxAttributes in three bytes each, and a link of 28 bytes in the table of links.
const MaxGrowth = 20

// keep counts a sample that stays as it is: one without timestamps, or with too many attributes.
func (l *linker) keep(sample pprofile.Sample) {
	observations, reason := int64(sample.TimestampsUnixNano().Len()), Attributes
	if observations == 0 {
		observations, reason = 1, Aggregated
	}
	if sample.LinkIndex() != 0 {
		l.stats.Kept += observations
	} else {
		l.stats.Unlinked[reason] += observations
	}
}

// collect copies out of the index what concerns the places of a profile.
func (l *linker) collect(program *Session) {
	x := l.index
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expire(l.options.Now)
	x.epoch++
	l.forest.begin()
	l.runs = l.runs[:0]
	for i := range l.places.list {
		if p := &l.places.list[i]; p.isKnown() {
			l.collectPlace(p, program)
			x.makeRoom()
		}
	}
	l.forest.number()
	l.linkOf = filled(l.linkOf, len(l.forest.trees), 0)
	l.links.Grow(len(l.forest.trees))
}

// maxWork bounds what one message may ask for: about a second. A full index, asked for all of it, is 200,000. Twenty thousand
// profiles of one instant each, on a thread with as many spans around it, are a megabyte, and would take a minute.
const maxWork = 1 << 22

// climbWork is what a span above those of a place counts, which is looked for in the index: they may be more by far.
const climbWork = 4

func (l *linker) collectPlace(p *place, program *Session) {
	end := max(p.last, p.last+1) // no span covers the last instant that there is
	var of *session
	for _, key := range p.sessions {
		s := l.index.touch(key, l.options.Now) // also one without spans: those that come after this are late
		s.linkedUpTo = max(s.linkedUpTo, end)
		if of == nil || len(of.lanes) == 0 {
			of = s
		}
	}
	if program != nil {
		l.index.sawProfile(program, p.sessions[0], l.options.Now)
		if len(of.lanes) == 0 && p.alone {
			if unstated := l.index.unstatedOf(program, p.sessions[0], l.options.Now); unstated != nil {
				unstated.linkedUpTo = max(unstated.linkedUpTo, end)
				of, p.assumed = unstated, true
			}
		}
	}
	if p.tooMuch = l.work >= maxWork; p.tooMuch {
		return
	}
	l.found = l.found[:0]
	if lane := of.lanes[p.thread]; lane != nil {
		l.found = lane.overlapping(p.first, end, l.found)
	}
	if lane := of.lanes[""]; lane != nil && (p.alone || p.thread == l.options.Thread) {
		l.found = lane.overlapping(p.first, end, l.found)
	}
	l.work += len(l.found)
	before := len(l.forest.trees)
	begin := len(l.runs)
	l.runs = slices.Grow(l.runs, len(l.found))
	l.forest.grow(len(l.found))
	for _, i := range slices.Backward(l.found) { // by their starts
		l.runs = append(l.runs, run{i.start, i.end, l.forest.add(l.index, i.node)})
	}
	l.work += climbWork * max(0, len(l.forest.trees)-before-len(l.found))
	clear(l.found)
	p.runs = l.runs[begin:]
	p.lost = of.lost
}
