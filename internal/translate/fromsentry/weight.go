// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"bytes"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
)

// Weight returns the maximum memory, in bytes, that is needed to translate and deliver an item. It
// does not decode the item. Ordinary items need a fifth of it.
func Weight(item *sentry.Item) int64 {
	payload := item.Payload
	count := func(text string) int64 { return int64(bytes.Count(payload, []byte(text))) }
	size := int64(len(payload))
	switch item.Header.Type {
	case sentry.ItemProfile, sentry.ItemProfileChunk, sentry.ItemProfileChunkUI:
		if item.Header.MetaLength.Set || mayHoldTrace(payload) {
			return messageBytes + fromandroid.Weight(size)
		}
		return messageBytes // the decoder claims what it needs, and ProfileWeight is the rest
	}
	if part, decoded := parts[item.Header.Type]; decoded {
		return messageBytes + 3*size + part.object*count("{") + part.value*(count("[")+count(","))
	}
	return messageBytes // not decoded
}

// parts are the sizes in memory of the parts of an item: of an object, and of a value in an object
// or a list. TestClaims measures them.
var parts = map[sentry.ItemType]struct{ object, value int64 }{
	sentry.ItemTransaction:  {1100, 200}, // a span
	sentry.ItemSpan:         {600, 150},
	sentry.ItemLog:          {500, 160},
	sentry.ItemTraceMetric:  {900, 130}, // a metric with a point
	sentry.ItemSession:      {300, 130},
	sentry.ItemSessions:     {1060, 130}, // an aggregate with a point for each state
	sentry.ItemEvent:        {800, 250},  // a frame
	sentry.ItemFeedback:     {800, 250},
	sentry.ItemUserReport:   {300, 130},
	sentry.ItemCheckIn:      {300, 150},
	sentry.ItemClientReport: {800, 130}, // a metric with a point
}

// mayHoldTrace reports whether a profile may have the member "sampled_profile", the trace of
// Android. It searches for the end of the key, because profiles have few 'f' but many '"': a search
// for the complete key took a fifth of a request's CPU time. A client can escape letters of a key
// (no SDK does), so any escaped letter counts.
func mayHoldTrace(payload []byte) bool {
	return containsWhere(payload, `file"`, func(before, _ []byte) bool { return bytes.HasSuffix(before, []byte(`"sampled_pro`)) }) ||
		containsWhere(payload, `\u00`, func(_, after []byte) bool { return len(after) > 0 && after[0] >= '5' && after[0] <= '7' })
}

// containsWhere reports whether a part occurs where match holds for the text before and after it.
func containsWhere(payload []byte, part string, match func(before, after []byte) bool) bool {
	for end := 0; ; {
		i := bytes.Index(payload[end:], []byte(part))
		if i < 0 {
			return false
		}
		start := end + i
		if end = start + len(part); match(payload[:start], payload[end:]) {
			return true
		}
	}
}

// Sizes in memory, as measured by TestClaims.
const (
	messageBytes     = 4 << 10 // including resource and scope
	imageBytes       = 680     // a mapping, or a map of ten values
	seriesBytes      = 1000
	pointBytes       = 430 // of a series, in an attribute and in a metric, with an exemplar
	threadBytes      = 300
	queueBytes       = 400
	frameBytes       = 270
	textBytes        = 200 // a string with an entry that refers to it
	stackBytes       = 110 // of a sample
	unusedStackBytes = 4
	entryBytes       = 12 // of a stack
	observationBytes = 28
	sampleBytes      = 230 // an identity
	originBytes      = 120 // of a thread and a queue
)

// ProfileWeight returns the memory, in bytes, that is needed to translate and deliver a decoded
// profile, in addition to the decoded data. It ignores the trace of Android profiles. size is that
// of the payload, which bounds the texts.
func ProfileWeight(p profile.Subject, size int) int64 {
	s, series := p.Sampled(), p.Measurements()
	weight := int64(size) + imageBytes*int64(len(p.Images()))
	for i := range series {
		weight += seriesBytes + pointBytes*int64(len(series[i].Values))
	}
	for i := range s.Threads {
		weight += threadBytes
		if s.Threads[i].Name != "" {
			weight += textBytes
		}
		if s.Threads[i].Priority != nil {
			weight += textBytes
		}
	}
	for i := range s.Frames {
		f := &s.Frames[i]
		weight += frameBytes
		for _, text := range [...]string{f.Function, f.Module, f.Filename, f.AbsPath, f.Package, f.Platform} {
			if text != "" {
				weight += textBytes
			}
		}
	}
	stacks, origins := int64(s.Stacks.Len()), int64(len(s.Threads))
	if queues := int64(len(s.Queues)); queues > 1 {
		weight += queueBytes*queues + originBytes*int64(s.Samples.Len())
		origins *= queues
	}
	samples := int64(s.Samples.Len())
	weight += stackBytes*min(stacks, samples) + unusedStackBytes*stacks + entryBytes*int64(s.Stacks.Entries())
	return weight + observationBytes*samples + sampleBytes*min(samples, stacks*origins)
}
