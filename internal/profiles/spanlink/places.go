// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// place is where samples of a profile were taken, and all that is known of it.
type place struct {
	sessions []Session // its session, once for each way to state it
	thread   string
	alone    bool // all samples of the session in this profile are of this thread

	first, last uint64 // of its observations, by the clock of spans

	// What the index says.
	runs     []run
	lost     [2]hull
	tooMuch  bool // it was not asked: see maxWork
	assumed  bool // the spans are of the program, and state no session
	timeline timeline
}

// places reads where the samples of a message were taken.
type places struct {
	keys *compiledKeys

	// The attribute table: which key of ours an entry is, and what it says.
	slots []slot
	texts []string

	list     []place
	byValues map[values]int32 // place by what was said of it
	byThread map[int32]int32  // place by the attribute that tells the thread, where samples say nothing else; 0 = no attribute
	of       []int32          // place by sample; none for samples without timestamps
}

// open reads the attributes of a message.
func (p *places) open(keys *compiledKeys, d pprofile.ProfilesDictionary) {
	p.keys = keys
	if p.byValues == nil {
		p.byValues, p.byThread = map[values]int32{}, map[int32]int32{}
	}
	view := dictionary.NewView(d)
	n := d.AttributeTable().Len()
	p.slots, p.texts = filled(p.slots, n, noSlot), filled(p.texts, n, "")
	for i := range n {
		if a, ok := view.Attribute(dictionary.AttributeIndex(i)); ok && a.Key != "" {
			if p.slots[i] = keys.slotOf(a.Key); p.slots[i] != noSlot {
				p.texts[i] = valueText(a.Value)
			}
		}
	}
}

// close forgets what points into the message and the index.
func (p *places) close() {
	p.keys = nil
	p.forget()
	clear(p.texts)
}

// said adds what the attributes of a record say.
func (p *places) said(attributes pcommon.Int32Slice, v *values) {
	for _, i := range attributes.All() {
		if i >= 0 && int(i) < len(p.slots) && p.slots[i] != noSlot && p.texts[i] != "" {
			v[p.slots[i]] = p.texts[i]
		}
	}
}

// read finds the places of a profile's samples. v is what scope and resource say; shift brings the times of samples to the clock
// of spans.
func (p *places) read(profile pprofile.Profile, v values, shift int64) {
	p.begin(profile, &v)
	for _, sample := range profile.Samples().All() {
		at := int32(none)
		if times := sample.TimestampsUnixNano(); times.Len() > 0 {
			at = p.find(sample, &v)
			p.list[at].extend(times, shift)
		}
		p.of = append(p.of, at)
	}
	p.findAlone()
}

func (p *places) begin(profile pprofile.Profile, v *values) {
	p.forget()
	p.said(profile.AttributeIndices(), v)
}

// forget ends a profile.
func (p *places) forget() {
	clear(p.list)
	p.list, p.of = p.list[:0], p.of[:0]
	clear(p.byValues)
	clear(p.byThread)
}

// anyKnown gives the place of a sample that the index could be asked about, or nil.
func (p *places) anyKnown(profile pprofile.Profile, v values) *place {
	p.begin(profile, &v)
	for _, sample := range profile.Samples().All() {
		if sample.TimestampsUnixNano().Len() == 0 {
			continue
		}
		if at := &p.list[p.find(sample, &v)]; at.isKnown() {
			return at
		}
	}
	return nil
}

// find gives the place of a sample. v is what profile, scope and resource say.
func (p *places) find(sample pprofile.Sample, v *values) int32 {
	thread, more := int32(0), false
	for _, i := range sample.AttributeIndices().All() {
		if i > 0 && int(i) < len(p.slots) && p.slots[i] != noSlot {
			if p.slots[i] == p.keys.thread {
				thread = i
			} else {
				more = true
			}
		}
	}
	if more {
		own := *v
		p.said(sample.AttributeIndices(), &own)
		return p.place(&own)
	}
	at, known := p.byThread[thread]
	if !known {
		own := *v
		if thread != 0 && p.texts[thread] != "" {
			own[p.keys.thread] = p.texts[thread]
		}
		at = p.place(&own)
		p.byThread[thread] = at
	}
	return at
}

func (p *places) place(v *values) int32 {
	if p.keys.segment != noSlot {
		v[p.keys.segment] = ""
	}
	at, known := p.byValues[*v]
	if !known {
		at = int32(len(p.list))
		p.byValues[*v] = at
		p.list = append(p.list, place{sessions: p.keys.sessions(v, nil), thread: v[p.keys.thread], first: math.MaxUint64})
	}
	return at
}

func (p *place) extend(times pcommon.UInt64Slice, shift int64) {
	for i := range times.Len() {
		t := times.At(i) + uint64(shift)
		p.first, p.last = min(p.first, t), max(p.last, t)
	}
}

// setSession says of which session all samples are.
func (p *places) setSession(s Session) {
	for i := range p.list {
		p.list[i].sessions = []Session{s}
	}
	p.findAlone()
}

// findAlone finds the threads that are the only one of their session in the profile.
func (p *places) findAlone() {
	threadOf, several := map[Session]string{}, map[Session]bool{}
	for i := range p.list {
		for _, session := range p.list[i].sessions {
			thread, known := threadOf[session]
			several[session] = several[session] || known && thread != p.list[i].thread
			threadOf[session] = p.list[i].thread
		}
	}
	for i := range p.list {
		place := &p.list[i]
		place.alone = len(place.sessions) > 0 && !several[place.sessions[0]]
	}
}

// isKnown says whether the samples name the place, so that the index can be asked for it.
func (p *place) isKnown() bool { return len(p.sessions) > 0 && p.thread != "" }

// reason is why an observation has no link, if not because it is ambiguous.
func (p *place) reason(instant uint64, o *Options) Reason {
	switch {
	case len(p.sessions) == 0:
		return NoSession
	case p.thread == "":
		return NoThread
	case o.Early, p.tooMuch, p.lost[lostEvicted].covers(instant):
		return Evicted
	case p.lost[lostExpired].covers(instant):
		return Late
	}
	return NoSpan
}
