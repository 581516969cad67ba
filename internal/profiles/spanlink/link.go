// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Link links the samples of a message to spans of the index. It changes the message.
func (x *Index) Link(p pprofile.Profiles, o Options) LinkStats {
	x.expire(o.Now)
	if o.Memory > 0 && o.Memory < sampleMemory(p) {
		var stats LinkStats
		stats.Unlinked[Evicted] = Observations(p)
		return stats
	}
	l := newLinker(x, p, o)
	defer l.release()
	eachProfile(&x.keys, o.Tenant, p, func(profile pprofile.Profile, of *origin) bool {
		l.profile(profile, of)
		return true
	})
	if o.Work != nil {
		*o.Work += int64(l.query.work)
	}
	if l.decider.linked && l.changed {
		dictionary.Compact(p) // links may be unreferenced now, and samples equal
	}
	return l.decider.stats
}

// CanLink reports whether a span could exist for any sample of a message of an authenticated
// tenant. It also records the sessions of the message in the index, because they affect other
// messages while this one waits.
func (x *Index) CanLink(tenant string, p pprofile.Profiles, now time.Time) bool {
	var tracks sampleTracks
	tracks.readDictionary(&x.keys, p.Dictionary())
	concerned := false
	eachProfile(&x.keys, tenant, p, func(profile pprofile.Profile, of *origin) bool {
		track := tracks.firstIdentified(profile, of)
		concerned = concerned || track != nil
		if track != nil && of.program != nil {
			x.mu.Lock()
			defer x.unlock()
			x.store.sessions.noteProfile(of.program, track.sessions[0], x.store.sinceStart(now))
			x.store.enforceLimits()
			return true
		}
		return !concerned
	})
	return concerned
}

// eachProfile visits the profiles of a message.
func eachProfile(keys *compiledKeys, tenant string, p pprofile.Profiles, do func(pprofile.Profile, *origin) bool) {
	for _, resource := range p.ResourceProfiles().All() {
		ofResource := keys.resource(tenant, resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			ofScope := ofResource
			keys.read(scope.Scope().Attributes(), &ofScope.values)
			for _, profile := range scope.Profiles().All() {
				if !do(profile, &ofScope) {
					return
				}
			}
		}
	}
}

// linker links one message: it finds the spans of each profile, decides the links of its samples
// and splits them.
type linker struct {
	options Options
	query   query
	decider decider
	changed bool // the link of a sample has changed
}

// linkers reuse the memory of earlier messages.
var linkers = sync.Pool{New: func() any { return new(linker) }}

func newLinker(x *Index, p pprofile.Profiles, o Options) *linker {
	return linkers.Get().(*linker).begin(x, p, o)
}

func (l *linker) begin(x *Index, p pprofile.Profiles, o Options) *linker {
	l.options, l.changed = o, false
	l.query.begin(x, &l.options, p)
	l.decider.begin(&l.query.tree, &l.options, p.Dictionary())
	return l
}

// maxPooled bounds the memory of a pooled linker, in bytes. For 57,000 observations and 5,800
// spans, a linker needs 2 MB.
const maxPooled = 16 << 20

// release returns the linker to the pool without references to the message and the index.
func (l *linker) release() {
	l.query.release()
	l.decider.release()
	l.options = Options{}
	if l.memory() <= maxPooled {
		linkers.Put(l)
	}
}

// memory returns the size of the memory that a pooled linker keeps.
func (l *linker) memory() int { return l.query.memory() + l.decider.memory() }

// profile links the samples of one profile.
func (l *linker) profile(profile pprofile.Profile, of *origin) {
	tracks := l.query.find(profile, of)
	l.decider.beginProfile(tracks.observations)
	for i, at := range tracks.bySample {
		sample := profile.Samples().At(i)
		if at == none || sample.AttributeIndices().Len() > maxAttributes {
			l.decider.keep(sample)
		} else {
			l.decider.decide(int32(i), sample, &tracks.list[at])
		}
	}
	changed := l.decider.split.apply(profile.Samples())
	l.changed = l.changed || changed
	if changed && !l.options.KeepPayload {
		payload.Clear(profile)
	}
}

// maxAttributes is the maximum number of attributes of a sample that is split. Each part repeats
// them: a message of 2 MB, with a million attributes on a hundred thousand observations, would grow
// to 100 GB. Profilers use about ten.
const maxAttributes = 32

// MaxGrowth is the maximum factor by which linking enlarges a message. An observation has 8 bytes.
// It may become a separate sample with a stack, maxAttributes attributes of three bytes each, and
// an entry of 28 bytes in the link table.
const MaxGrowth = 20
