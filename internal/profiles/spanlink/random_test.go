// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

var start = time.Unix(1_800_000_000, 0)

// lastInstant is small, so that many events happen at the same time.
const lastInstant = 60

func traceID(n uint64) (id pcommon.TraceID) { binary.BigEndian.PutUint64(id[:], n+1); return id }
func spanID(n uint64) (id pcommon.SpanID)   { binary.BigEndian.PutUint64(id[:], n+1); return id }

// randomTraces returns messages of one span each, from a few traces: trees with segments, with
// sessions and threads on all spans or only on segments.
func randomTraces(r *rand.Rand) (messages []ptrace.Traces) {
	next := uint64(0)
	for trace := range 1 + r.Uint64N(4) {
		var segment, segmentStart, segmentEnd uint64
		tenant, session, thread := strconv.Itoa(r.IntN(2)), "", ""
		first := next
		for i := range r.IntN(9) {
			message := ptrace.NewTraces()
			resource := message.ResourceSpans().AppendEmpty()
			resource.Resource().Attributes().PutStr("sentry.project_id", tenant)
			span := resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
			span.SetTraceID(traceID(trace))
			span.SetSpanID(spanID(next))
			if i > 0 && r.IntN(5) > 0 {
				span.SetParentSpanID(spanID(first + r.Uint64N(next-first)))
			}
			from, to := r.Uint64N(lastInstant), r.Uint64N(lastInstant)
			attributes := span.Attributes()
			if i == 0 || r.IntN(5) == 0 {
				segment, session, thread = next, randomSession(r), randomThread(r)
				segmentStart, segmentEnd = min(from, to), max(from, to)
				putPlace(attributes, session, thread)
			} else {
				if r.IntN(2) == 0 { // within its segment, as most spans are
					from = segmentStart + from%(segmentEnd-segmentStart+1)
					to = segmentStart + to%(segmentEnd-segmentStart+1)
				}
				switch r.IntN(3) {
				case 0:
					putPlace(attributes, session, thread)
				case 1:
					putPlace(attributes, session, randomThread(r))
				}
			}
			segmentID := spanID(segment)
			attributes.PutStr("sentry.segment.id", hex.EncodeToString(segmentID[:]))
			from, to = min(from, to), max(from, to)
			switch r.IntN(12) {
			case 0:
				to = from
			case 1:
				from, to = to, from
			}
			span.SetStartTimestamp(pcommon.Timestamp(from))
			span.SetEndTimestamp(pcommon.Timestamp(to))
			messages = append(messages, message)
			if r.IntN(20) == 0 {
				messages = append(messages, message) // a retry
			}
			next++
		}
	}
	return messages
}

func randomSession(r *rand.Rand) string { return [...]string{"", "s", "s", "t"}[r.IntN(4)] }

func randomThread(r *rand.Rand) string { return [...]string{"", "1", "1", "2", "main"}[r.IntN(5)] }

func putPlace(attributes pcommon.Map, session, thread string) {
	if session != "" {
		attributes.PutStr("sentry.profiler_id", session)
	}
	if number, err := strconv.Atoi(thread); err == nil {
		attributes.PutInt("thread.id", int64(number))
	} else if thread != "" {
		attributes.PutStr("thread.id", thread)
	}
}

// randomProfiles returns a message of a few profiles. Some have links, some have values, and some
// are aggregated.
func randomProfiles(r *rand.Rand) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("sentry.project_id", strconv.Itoa(r.IntN(2)))
	profiles := resource.ScopeProfiles().AppendEmpty().Profiles()
	for range 1 + r.IntN(3) {
		profile := profiles.AppendEmpty()
		dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
		profile.SetDurationNano(lastInstant + 1)
		profile.SetOriginalPayloadFormat("sentry")
		profile.OriginalPayload().FromRaw([]byte("{}"))
		if session := randomSession(r); session != "" {
			dictionary.SetAttributes(profile.AttributeIndices(), b.Attribute("sentry.profiler_id", dictionary.StringValue(session), ""))
		}
		shape, threads, seen := r.IntN(3), 1+r.IntN(3), map[[3]int32]bool{}
		for range r.IntN(12) {
			stack := b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Address: 1 + r.Uint64N(3)})})
			thread := [...]string{"1", "2", ""}[r.IntN(threads)]
			var attributes []dictionary.AttributeIndex
			if number, err := strconv.Atoi(thread); err == nil {
				attributes = append(attributes, b.Attribute("thread.id", dictionary.IntValue(int64(number)), ""))
			}
			link := dictionary.LinkIndex(0)
			if r.IntN(4) == 0 {
				link = b.Link(traceID(r.Uint64N(4)), spanID(r.Uint64N(20)))
			}
			identity := [3]int32{int32(stack), int32(link), 0}
			if len(attributes) > 0 {
				identity[2] = int32(attributes[0])
			}
			if seen[identity] {
				continue
			}
			seen[identity] = true
			sample := profile.Samples().AppendEmpty()
			sample.SetStackIndex(int32(stack))
			sample.SetLinkIndex(int32(link))
			dictionary.SetAttributes(sample.AttributeIndices(), attributes...)
			if shape == 0 {
				sample.Values().Append(7)
				continue
			}
			for range 1 + r.IntN(6) {
				sample.TimestampsUnixNano().Append(r.Uint64N(lastInstant))
				if shape == 1 {
					sample.Values().Append(r.Int64N(100))
				}
			}
		}
	}
	if p.SampleCount() == 0 {
		return randomProfiles(r)
	}
	b.Finish()
	return p
}
