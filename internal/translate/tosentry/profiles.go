// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// ProfilesToChunks translates profiles of any origin to profile chunks (sample format V2) within
// the limits of Sentry's ingest: the inverse of fromsentry.ChunkToProfiles. The message may be
// invalid in any way; it is not modified.
func ProfilesToChunks(profiles pprofile.Profiles, o ExportOptions) Export {
	e := newProfileExporter(profiles, o)
	defer e.release()
	for _, resource := range profiles.ResourceProfiles().All() {
		e.resource, e.sessions = resource.Resource().Attributes(), map[bool]string{}
		ofResource := ReadIdentity(e.resource)
		for _, scope := range resource.ScopeProfiles().All() {
			for _, g := range e.groups(scope.Profiles(), InScope(ofResource, scope.Scope(), e.options)) {
				e.group(g)
			}
		}
	}
	return e.Export
}

// Reasons for dropping a profile or a part of it, in addition to those of Sentry's ingest.
const (
	// ReasonNotTime: the values are bytes, objects or contentions. Sentry's profiles support only
	// time.
	ReasonNotTime discard.Reason = "sample_type_not_time"
	// ReasonProfileRestated: another profile of the scope has the same observations. Go's CPU
	// profiles contain them as counts and as nanoseconds.
	ReasonProfileRestated discard.Reason = "profile_restated"
	// ReasonNoProfileTime: neither the samples nor the profile have a time.
	ReasonNoProfileTime discard.Reason = "profile_without_time"
)

// profileExporter translates one message.
type profileExporter struct {
	Export
	options  ExportOptions
	view     dictionary.View
	chunkIDs map[string]bool // of the items

	resource pcommon.Map     // of the current profiles
	sessions map[bool]string // derived from the resource, by weight.onCPU

	// These keep their memory between messages.
	frames   frameReader
	samples  sampleReader
	splitter chunking.Splitter
}

var profileExporters = sync.Pool{New: func() any { return new(profileExporter) }}

func newProfileExporter(profiles pprofile.Profiles, o ExportOptions) *profileExporter {
	o.MaxItemBytes = o.AtMost(sentry.MaxOutgoingChunk)
	e := profileExporters.Get().(*profileExporter)
	e.Export, e.options, e.chunkIDs = Export{}, o, map[string]bool{}
	e.view = dictionary.NewView(profiles.Dictionary())
	keys := readKeys(e.view, profiles.Dictionary(), e.samples.keys.keys)
	limit := min(attr.ExportBound(new(pprofile.ProtoMarshaler).ProfilesSize(profiles)), attr.MaxExport)
	e.frames.open(e.view, keys, profiles.Dictionary(), limit)
	e.samples.open(e.view, keys)
	e.samples.share = attr.ExportOverhead / bytesOfRepeat / max(1, profiles.ProfileCount())
	e.splitter.Open(limit)
	return e
}

// maxPooledExport limits the memory, in bytes, that an exporter keeps. A chunk of 5 MB needs 15 MB.
const maxPooledExport = 32 << 20

// release returns the exporter to the pool, without references to the message.
func (e *profileExporter) release() {
	observations := cap(e.samples.observations) + e.samples.sorter.Cap() + cap(e.samples.counted)
	if e.splitter.MemoryBytes()+20*observations+16*cap(e.samples.keys.keys)+e.frames.memoryBytes() > maxPooledExport {
		return
	}
	e.frames.close()
	e.samples.close()
	e.splitter.Close()
	e.Export, e.options, e.view, e.chunkIDs, e.resource, e.sessions = Export{}, ExportOptions{}, dictionary.View{}, nil, pcommon.Map{}, nil
	profileExporters.Put(e)
}

// group is a profile, or several of one process that differ only in time: profilers for a whole
// host send one every few seconds, and a batch has many.
type group struct {
	origin
	weight   weight
	profiles []pprofile.Profile
}

// groupKey is equal for profiles that become one chunk.
type groupKey struct {
	origin
	weight     weight
	attributes string
}

// groups returns the profiles of a scope to translate. Profiles of Sentry's SDKs remain the chunks
// that they were, and those without times keep their duration.
func (e *profileExporter) groups(profiles pprofile.ProfilesSlice, id attr.Identity) (groups []*group) {
	restated, byKey := restatements(e.view, profiles), map[groupKey]*group{}
	for p, profile := range profiles.All() {
		if restated[p] {
			e.Lose(ReasonProfileRestated, countObservations(profile))
			continue
		}
		if e.original(profile) {
			continue
		}
		weight, reason := weightOf(e.view, profile)
		if reason != "" {
			e.Lose(reason, countObservations(profile))
			continue
		}
		g := &group{origin: readOrigin(e.view, profile, id), weight: weight, profiles: []pprofile.Profile{profile}}
		if !g.fromSentry && profile.Samples().Len() > 0 && profile.Samples().At(0).TimestampsUnixNano().Len() > 0 {
			key := groupKey{g.origin, weight, string(appendSet(nil, profile.AttributeIndices()))}
			key.chunkID = ""
			if known := byKey[key]; known != nil {
				known.profiles, known.chunkID = append(known.profiles, profile), ""
				continue
			}
			byKey[key] = g
		}
		groups = append(groups, g)
	}
	return groups
}

func (e *profileExporter) group(g *group) {
	if e.splitter.IsFull() {
		for _, profile := range g.profiles {
			e.Lose(discard.ReasonExceedSizeLimit, countObservations(profile))
		}
		return
	}
	if g.profilerID == "" {
		g.profilerID = e.session(g.weight.onCPU)
		e.Clocks.Add(g.weight.onCPU)
	}
	e.frames.start(g.fromSentry)
	weight := e.samples.read(g.profiles, g.weight, g.driftMilli, &e.frames, &e.Export)
	if len(e.samples.observations) == 0 {
		return // empty, or everything is counted as lost
	}
	e.write(g.profiles[0], g.origin, weight)
}

// session returns the profiler session derived from the resource.
func (e *profileExporter) session(onCPU bool) string {
	if e.sessions[onCPU] == "" {
		e.sessions[onCPU] = attr.ProfilerSession(e.resource, e.options.ProfilerIDAttributes, onCPU)
	}
	return e.sessions[onCPU]
}

// write appends items for the profile that was read.
func (e *profileExporter) write(profile pprofile.Profile, src origin, weight weight) {
	chunk := sentryprofile.Chunk{
		ProfilerID: src.profilerID, Platform: e.frames.settlePlatform(src.Platform), Release: src.Release, Dist: src.Dist,
		Environment: src.Environment, ClientSDK: src.Sdk,
	}
	chunk.Sampled.Frames, chunk.Sampled.Stacks = e.frames.frames, e.frames.stacks
	chunk.Sampled.Threads = e.samples.threads
	for i := range chunk.Sampled.Threads {
		if t := &chunk.Sampled.Threads[i]; !t.HasValidPriority() {
			t.Priority = nil
			e.Flaw("thread_priority", 1)
		}
	}
	chunk.DebugMeta.Images = e.frames.images(profile, &e.Export)
	chunk.Measurements = readMeasurements(e.view, profile, src.driftMilli, &e.Export)

	parts := e.splitter.Split(chunking.Profile{
		Chunk: &chunk, Observations: e.samples.observations, Period: weight.period, OnCPU: weight.onCPU, AsSent: src.fromSentry,
	}, e.options.MaxItemBytes)
	for part := range parts {
		e.add(part, chunk.Platform, src.chunkID)
	}
	for _, loss := range e.splitter.Lost {
		e.Lose(loss.Reason, loss.Count)
	}
}

// add appends an item for a part of a profile. The first part has the ID of the profile. Later
// parts, and profiles without an ID or with the ID of an earlier profile, get an ID derived from
// their content: Sentry keeps one chunk per ID.
func (e *profileExporter) add(part chunking.Part, platform, id string) {
	if id == "" || part.Number > 0 || e.chunkIDs[id] {
		id = part.ContentID()
	}
	for e.chunkIDs[id] { // the same content twice
		id = attr.HashID("again", id)
	}
	e.chunkIDs[id] = true
	part.SetChunkID(id)
	e.addChunk(platform, e.splitter.TakePayload(), part.Count)
}

func (e *profileExporter) addChunk(platform string, payload []byte, observations int) {
	item := e.Add(sentry.ItemProfileChunk, sentry.ContentTypeJSON, payload)
	item.Header.Platform, item.Count = platform, observations
}

// original appends the original payload of the profile, if it was kept; transforms that change a
// profile remove it. Payloads that ingest would reject, or store with the times of a wrong clock,
// are not used; their profiles are translated instead.
func (e *profileExporter) original(profile pprofile.Profile) bool {
	kept := payload.Of(profile, attr.OriginalPayloadFormat)
	if kept == nil || driftOf(e.view, profile) != 0 {
		return false
	}
	d := sentryprofile.AcquireDecoder()
	defer d.Release()
	chunk, err := d.Chunk(kept)
	if err != nil || chunk.Android != nil || len(kept) > e.options.MaxItemBytes || e.chunkIDs[chunk.ChunkID] {
		return false
	}
	subject := sentryprofile.Subject{Chunk: chunk, HeaderPlatform: chunk.Platform, Number: 1, Size: len(kept)}
	if len(sentryprofile.BrokenRules(subject)) > 0 || chunk.Platform != validPlatform(chunk.Platform) {
		return false
	}
	if slices.ContainsFunc(chunk.Sampled.Threads, func(t sentryprofile.Thread) bool { return !t.HasValidPriority() }) {
		return false
	}
	for _, image := range chunk.DebugMeta.Images {
		if repaired, ok := sentryprofile.RepairImage(image); !ok || repaired != image {
			return false
		}
	}
	e.chunkIDs[chunk.ChunkID] = true
	e.addChunk(strings.Clone(chunk.Platform), kept, chunk.Samples.Len())
	return true
}

// origin describes the source of a profile.
type origin struct {
	attr.Identity
	fromSentry bool   // translated by fromsentry: absent fields were not sent and are not derived
	profilerID string // in Sentry's form; "" = none
	chunkID    string // the same; "" = none
	driftMilli int64  // see driftOf
}

func readOrigin(view dictionary.View, profile pprofile.Profile, id attr.Identity) origin {
	version := profileText(view, profile, semconv.SentryProfileVersion)
	src := origin{Identity: id, fromSentry: version != "", driftMilli: driftOf(view, profile)}
	if platform := profileText(view, profile, semconv.SentryPlatform); platform != "" { // next to a profile of another platform
		src.Platform = validPlatform(platform)
	}
	if id := profile.ProfileID(); !id.IsEmpty() {
		src.chunkID = hex.EncodeToString(id[:])
	} else {
		src.chunkID = sentryID(attr.FirstText(profileText(view, profile, semconv.SentryChunkID), profileText(view, profile, semconv.SentryProfileID)))
	}
	src.profilerID = sentryID(profileText(view, profile, semconv.SentryProfilerID))
	if src.profilerID == "" && version == "1" {
		src.profilerID = src.chunkID // spans refer to it by the same ID: see profilingOf
	}
	return src
}

// driftOf returns by how many milliseconds the times of a profile are behind. Ingest does not use
// sent_at for profiles (relay-server, processing/profile_chunks), so the exporter corrects them by
// the drift that ingest adds to the spans of the same client.
func driftOf(view dictionary.View, profile pprofile.Profile) int64 {
	return attr.UncorrectedDrift(func(key string) (pcommon.Value, bool) { return view.Get(profile.AttributeIndices(), key) })
}

// sentryID returns an ID in Sentry's form. It returns a hash if the text is not a UUID, and "" if
// it is empty.
func sentryID(text string) string {
	if text == "" {
		return ""
	}
	if bytes, ok := sentry.ParseID(text); ok {
		return hex.EncodeToString(bytes[:])
	}
	return attr.HashID("id", attr.Clip(text, attr.MaxFrameText)) // any number of profiles may refer to one text
}

func profileText(view dictionary.View, profile pprofile.Profile, key string) string {
	if value, ok := view.Get(profile.AttributeIndices(), key); ok && value.Type() == pcommon.ValueTypeStr {
		return value.Str()
	}
	return ""
}

// run identifies a profile and its restatement, apart from their observations.
type run struct {
	start, duration, period uint64
	kind, unit              string // of the period
}

// restatements marks the profiles of a scope that repeat the observations of another one, as in
// Go's CPU profiles: samples/count and cpu/nanoseconds, both with the period type cpu. Equal times
// and periods are not sufficient: profiles of other processes or of the wall clock may have the
// same.
func restatements(view dictionary.View, profiles pprofile.ProfilesSlice) []bool {
	marked := make([]bool, profiles.Len())
	counts, times := map[run][]int{}, map[run][]int{}
	for i, profile := range profiles.All() {
		if profile.Time() == 0 {
			continue
		}
		t, _ := sampletype.Of(view, profile)
		r := run{
			start: uint64(profile.Time()), duration: profile.DurationNano(), period: uint64(profile.Period()),
			kind: t.PeriodName, unit: t.PeriodUnit,
		}
		switch {
		case t.Counts:
			counts[r] = append(counts[r], i)
		case t.Clock != sampletype.None && t.Name == t.PeriodName:
			times[r] = append(times[r], i)
		}
	}
	for r, restated := range times {
		if len(counts[r]) == 0 {
			continue
		}
		left := map[string]int{} // counts without a restatement so far
		for _, i := range counts[r] {
			left[observationsOf(view, profiles.At(i))]++
		}
		for _, i := range restated {
			if o := observationsOf(view, profiles.At(i)); left[o] > 0 {
				left[o]--
				marked[i] = true
			}
		}
	}
	return marked
}

// observationsOf returns a key that is equal for profiles with equal attributes and observations,
// in any unit.
func observationsOf(view dictionary.View, profile pprofile.Profile) string {
	w, _ := weightOf(view, profile)
	samples := make([]string, 0, profile.Samples().Len())
	for _, s := range profile.Samples().All() {
		key := binary.AppendVarint(nil, int64(s.StackIndex()))
		key = binary.AppendVarint(key, int64(s.LinkIndex()))
		key = appendSet(key, s.AttributeIndices())
		key = binary.AppendUvarint(key, uint64(s.Values().Len()))
		for _, value := range s.Values().All() {
			key = binary.AppendVarint(key, int64(w.observations(value)))
		}
		for _, t := range s.TimestampsUnixNano().All() {
			key = binary.AppendUvarint(key, t)
		}
		samples = append(samples, string(key))
	}
	slices.Sort(samples)
	key := appendSet(nil, profile.AttributeIndices())
	for _, s := range samples {
		key = append(binary.AppendUvarint(key, uint64(len(s))), s...)
	}
	return string(key)
}

func appendSet(to []byte, attributes pcommon.Int32Slice) []byte {
	set := attributes.AsRaw()
	slices.Sort(set)
	to = binary.AppendUvarint(to, uint64(len(set)))
	for _, i := range set {
		to = binary.AppendVarint(to, int64(i))
	}
	return to
}
