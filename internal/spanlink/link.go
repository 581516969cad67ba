package spanlink

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
)

// Link links the samples of a message, which it changes, to the spans that are in the index.
func (x *Index) Link(p pprofile.Profiles, o Options) LinkStats {
	l := linker{
		index: x, options: o,
		view: dictionary.NewView(p.Dictionary()), links: dictionary.NewLinks(p.Dictionary()),
		places: newPlaces(&x.keys, p.Dictionary()),
	}
	defer l.links.Release()
	eachProfile(&x.keys, p, func(profile pprofile.Profile, said values) bool {
		l.profile(profile, said)
		return true
	})
	if l.linked && l.changed {
		dictionary.Compact(p) // links may have become orphans, and samples the same
	}
	return l.stats
}

// Concerns says whether any sample of a message could be linked, if there were a span.
func (x *Index) Concerns(p pprofile.Profiles) bool {
	places, concerned := newPlaces(&x.keys, p.Dictionary()), false
	eachProfile(&x.keys, p, func(profile pprofile.Profile, said values) bool {
		concerned = places.anyKnown(profile, said)
		return !concerned
	})
	return concerned
}

// eachProfile goes through the profiles of a message, with what scope and resource say.
func eachProfile(keys *compiledKeys, p pprofile.Profiles, do func(pprofile.Profile, values) bool) {
	for _, resource := range p.ResourceProfiles().All() {
		var ofResource values
		keys.read(resource.Resource().Attributes(), &ofResource)
		for _, scope := range resource.ScopeProfiles().All() {
			ofScope := ofResource
			keys.read(scope.Scope().Attributes(), &ofScope)
			for _, profile := range scope.Profiles().All() {
				if !do(profile, ofScope) {
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
	places  *places
	stats   LinkStats

	linked  bool // some sample came with a link
	changed bool // some sample has another link

	// Of the profile:
	forest forest
	found  []*interval
	linkOf []dictionary.LinkIndex // by span of the forest; 0 if not asked for yet

	split splitter
}

// profile links the samples of one profile.
func (l *linker) profile(profile pprofile.Profile, said values) {
	l.places.read(profile, said)
	if l.options.Session != (Session{}) {
		l.places.setSession(l.options.Session)
	}
	l.collect()
	for i := range l.places.list {
		place := &l.places.list[i]
		place.timeline = newTimeline(&l.forest, place.runs, l.options.Ambiguous)
	}

	changed := false
	samples := profile.Samples()
	for i, at := range l.places.of { // what a split adds comes behind these
		sample := samples.At(i)
		if at == none {
			l.keep(sample)
			continue
		}
		l.decide(sample, &l.places.list[at])
		changed = l.split.apply(samples, sample) || changed
	}
	l.changed = l.changed || changed
	if changed && !l.options.KeepPayload {
		profile.SetOriginalPayloadFormat("")
		profile.OriginalPayload().FromRaw(nil)
	}
}

// keep counts a sample without timestamps, which stays as it is.
func (l *linker) keep(sample pprofile.Sample) {
	if sample.LinkIndex() != 0 {
		l.stats.Kept++
	} else {
		l.stats.Unlinked[Aggregated]++
	}
}

// collect copies out of the index what concerns the places of a profile.
func (l *linker) collect() {
	x := l.index
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expire(l.options.Now)
	x.epoch++
	l.forest.trees = l.forest.trees[:0]
	for i := range l.places.list {
		if p := &l.places.list[i]; p.isKnown() {
			l.collectPlace(p)
		}
	}
	l.forest.number()
	l.linkOf = make([]dictionary.LinkIndex, len(l.forest.trees))
	l.links.Grow(len(l.forest.trees))
}

func (l *linker) collectPlace(p *place) {
	from, to := l.shifted(p.from), l.shifted(p.to)
	var of *session
	for _, key := range p.sessions {
		s := l.index.touch(key, l.options.Now) // also one without spans: those that come after this are late
		s.linkedUpTo = max(s.linkedUpTo, to)
		if of == nil || len(of.lanes) == 0 {
			of = s
		}
	}
	l.found = l.found[:0]
	if lane := of.lanes[p.thread]; lane != nil {
		l.found = lane.overlapping(from, to, l.found)
	}
	if lane := of.lanes[""]; lane != nil && (p.alone || p.thread == l.options.Thread) {
		l.found = lane.overlapping(from, to, l.found)
	}
	for _, i := range l.found {
		p.runs = append(p.runs, run{i.start, i.end, l.forest.add(l.index, i.node)})
	}
	p.lost = of.lost
}

// shifted is the time of a sample as that of a span.
func (l *linker) shifted(instant uint64) uint64 { return instant + uint64(l.options.Shift) }
