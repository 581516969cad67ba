// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// sampleTrack is a track on which samples of a profile were taken.
type sampleTrack struct {
	sessions   []Session // its session, once per way to identify it
	thread     string
	soleThread bool // all samples of the session in this profile are of this thread
	mainThread bool // the profile states that this is its main thread

	first, last uint64 // of its observations, by the clock of spans

	// The result of the query.
	lost        [2]extent
	limited     bool // the query stopped at limitedFrom, because of the work limit
	limitedFrom uint64
	assumed     bool // the spans state only the program instead of a session, or a different ID of the main thread
	timeline    timeline
}

// sampleTracks finds the tracks of the samples of a message.
type sampleTracks struct {
	keys   *compiledKeys
	tenant Tenant

	// The attribute table: the slot and the text of each entry.
	slots []slot
	texts []string

	list         []sampleTrack
	byValues     map[values]int32 // track by attribute values
	byThread     map[int32]int32  // track by the attribute with the thread, for samples without other keys; 0 = no attribute
	observations int              // of all samples with timestamps
	bySample     []int32          // track by sample; none for samples without timestamps
	threads      map[string]bool  // of all tracks; empty if not needed so far
}

// readDictionary reads the attribute table of a message.
func (t *sampleTracks) readDictionary(keys *compiledKeys, d pprofile.ProfilesDictionary) {
	t.keys = keys
	if t.byValues == nil {
		t.byValues, t.byThread, t.threads = map[values]int32{}, map[int32]int32{}, map[string]bool{}
	}
	view := dictionary.NewView(d)
	n := d.AttributeTable().Len()
	t.slots, t.texts = filled(t.slots, n, noSlot), filled(t.texts, n, "")
	for i := range n {
		if a, ok := view.Attribute(dictionary.AttributeIndex(i)); ok && a.Key != "" {
			if t.slots[i] = keys.slotOf(a.Key); t.slots[i] != noSlot {
				t.texts[i] = valueText(a.Value)
			}
		}
	}
}

// release drops references to the message and the index.
func (t *sampleTracks) release() {
	t.keys = nil
	t.reset()
	clear(t.texts)
}

// readAttributes overwrites values with those in the attributes of a record.
func (t *sampleTracks) readAttributes(attributes pcommon.Int32Slice, v *values) {
	for _, i := range attributes.All() {
		if i >= 0 && int(i) < len(t.slots) && t.slots[i] != noSlot && t.texts[i] != "" {
			v[t.slots[i]] = t.texts[i]
		}
	}
}

// read finds the tracks of a profile's samples. shift converts sample times to the clock of spans.
func (t *sampleTracks) read(profile pprofile.Profile, of *origin, shift int64) {
	v := t.beginProfile(profile, of)
	for _, sample := range profile.Samples().All() {
		at := int32(none)
		if times := sample.TimestampsUnixNano(); times.Len() > 0 {
			at = t.trackOf(sample, &v)
			t.list[at].extend(times, shift)
			t.observations += times.Len()
		}
		t.bySample = append(t.bySample, at)
	}
	t.findSoleThreads()
}

// beginProfile returns the values of the profile.
func (t *sampleTracks) beginProfile(profile pprofile.Profile, of *origin) values {
	t.reset()
	v := of.values
	t.tenant = of.tenant
	t.readAttributes(profile.AttributeIndices(), &v)
	return v
}

// reset drops the tracks of a profile.
func (t *sampleTracks) reset() {
	clear(t.list)
	t.list, t.bySample = t.list[:0], t.bySample[:0]
	clear(t.byValues)
	clear(t.byThread)
	clear(t.threads)
	t.tenant, t.observations = Tenant{}, 0
}

// firstIdentified returns the first track that can be looked up in the index, or nil.
func (t *sampleTracks) firstIdentified(profile pprofile.Profile, of *origin) *sampleTrack {
	v := t.beginProfile(profile, of)
	for _, sample := range profile.Samples().All() {
		if sample.TimestampsUnixNano().Len() == 0 {
			continue
		}
		if at := &t.list[t.trackOf(sample, &v)]; at.isIdentified() {
			return at
		}
	}
	return nil
}

// trackOf returns the position of a sample's track. v has the values of profile, scope and
// resource.
func (t *sampleTracks) trackOf(sample pprofile.Sample, v *values) int32 {
	thread, more := int32(0), false
	for _, i := range sample.AttributeIndices().All() {
		if i > 0 && int(i) < len(t.slots) && t.slots[i] != noSlot {
			switch t.slots[i] {
			case t.keys.thread:
				thread = i
			case t.keys.threadName: // spans only
			default:
				more = true
			}
		}
	}
	if more {
		own := *v
		t.readAttributes(sample.AttributeIndices(), &own)
		return t.lookup(&own)
	}
	at, known := t.byThread[thread]
	if !known {
		own := *v
		if thread != 0 && t.texts[thread] != "" {
			own[t.keys.thread] = t.texts[thread]
		}
		at = t.lookup(&own)
		t.byThread[thread] = at
	}
	return at
}

// lookup returns the position of the track with these values, and adds it if it is new.
func (t *sampleTracks) lookup(v *values) int32 {
	if t.keys.segment != noSlot {
		v[t.keys.segment] = ""
	}
	if t.keys.threadName != noSlot {
		v[t.keys.threadName] = ""
	}
	at, known := t.byValues[*v]
	if !known {
		at = int32(len(t.list))
		t.byValues[*v] = at
		track := sampleTrack{sessions: t.keys.sessions(t.tenant, v, nil), thread: v[t.keys.thread], first: math.MaxUint64}
		track.mainThread = t.keys.mainThread != noSlot && track.thread != "" && v[t.keys.mainThread] == track.thread
		t.list = append(t.list, track)
	}
	return at
}

func (t *sampleTrack) extend(times pcommon.UInt64Slice, shift int64) {
	for i := range times.Len() {
		instant := times.At(i) + uint64(shift)
		t.first, t.last = min(t.first, instant), max(t.last, instant)
	}
}

// setSession sets the session of all samples.
func (t *sampleTracks) setSession(s Session) {
	for i := range t.list {
		t.list[i].sessions = []Session{s}
	}
	t.findSoleThreads()
}

// findSoleThreads marks tracks whose thread is the only one of their session in the profile.
func (t *sampleTracks) findSoleThreads() {
	threadOf, several := map[Session]string{}, map[Session]bool{}
	for i := range t.list {
		for _, session := range t.list[i].sessions {
			thread, known := threadOf[session]
			several[session] = several[session] || known && thread != t.list[i].thread
			threadOf[session] = t.list[i].thread
		}
	}
	for i := range t.list {
		track := &t.list[i]
		track.soleThread = len(track.sessions) > 0 && !several[track.sessions[0]]
	}
}

// hasThread reports whether any samples are from a thread.
func (t *sampleTracks) hasThread(id string) bool {
	if len(t.threads) == 0 {
		for i := range t.list {
			t.threads[t.list[i].thread] = true
		}
	}
	return t.threads[id]
}

// isIdentified reports whether session and thread are known, so that the track can be looked up in
// the index.
func (t *sampleTrack) isIdentified() bool { return len(t.sessions) > 0 && t.thread != "" }

// unlinkedReason returns the reason for the missing link of an observation that no span covers.
func (t *sampleTrack) unlinkedReason(instant uint64, o *Options) Reason {
	switch {
	case len(t.sessions) == 0:
		return NoSession
	case t.thread == "":
		return NoThread
	case o.Early, t.limited && instant >= t.limitedFrom, t.lost[lostEvicted].contains(instant):
		return Evicted
	case t.lost[lostExpired].contains(instant):
		return Late
	}
	return NoSpan
}
