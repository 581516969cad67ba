// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"fmt"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const (
	benchThreads  = 8
	benchInterval = 10_000_000 // between two samples of a thread
	benchDepth    = 4          // depth of nested spans
)

// benchProfile returns n observations of eight threads, each with a hundred stacks in turn.
func benchProfile(n int) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	profile := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	profile.SetDurationNano(uint64(n) * benchInterval)
	dictionary.SetAttributes(profile.AttributeIndices(), b.Attribute("sentry.profiler_id", dictionary.StringValue("session"), ""))
	const stacks = 100
	var samples [benchThreads][stacks]pprofile.Sample
	for thread := range min(n, benchThreads) {
		for stack := range stacks {
			s := profile.Samples().AppendEmpty()
			s.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Address: uint64(stack + 1)})})))
			dictionary.SetAttributes(s.AttributeIndices(), b.Attribute("thread.id", dictionary.IntValue(int64(thread)), ""))
			samples[thread][stack] = s
		}
	}
	for i := range n {
		tick := i / benchThreads
		samples[i%benchThreads][tick/3%stacks].TimestampsUnixNano().Append(uint64(tick) * benchInterval)
	}
	profile.Samples().RemoveIf(func(s pprofile.Sample) bool { return s.TimestampsUnixNano().Len() == 0 })
	b.Finish()
	return p
}

// benchSpans returns n spans on the eight threads, in nests of four, which together cover the
// profile.
func benchSpans(n, observations int) iter.Seq[Span] {
	sessions := []Session{{Parts: [maxSessionParts]string{"session"}}}
	requests := max(1, n/benchDepth/benchThreads) // requests per thread
	length := uint64(observations/benchThreads+1) * benchInterval / uint64(requests)
	return func(yield func(Span) bool) {
		for i := range n {
			request, depth := i/benchDepth, uint64(i%benchDepth)
			thread, number := request%benchThreads, uint64(request/benchThreads)
			span := Span{
				Sessions: sessions, Thread: fmt.Sprint(thread), Trace: traceID(uint64(request)), ID: spanID(uint64(i)),
				Start: number*length + depth*length/10, End: (number+1)*length - depth*length/10,
			}
			if depth > 0 {
				span.Parent = spanID(uint64(i) - 1)
			}
			if !yield(span) {
				return
			}
		}
	}
}

// BenchmarkLink: the cost per sample and span must hardly grow with their numbers.
func BenchmarkLink(b *testing.B) {
	for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
		for _, spans := range []int{n, n / 20} {
			b.Run(fmt.Sprintf("samples=%d/spans=%d", n, spans), func(b *testing.B) {
				input := benchProfile(n)
				x := NewIndex(Sentry, Limits{Spans: n, MaxAge: time.Hour})
				x.Add(benchSpans(spans, n), start)
				var stats LinkStats
				for b.Loop() {
					b.StopTimer()
					p := pprofile.NewProfiles()
					input.CopyTo(p)
					b.StartTimer()
					stats = x.Link(p, Options{Now: start, Ambiguous: Skip})
				}
				if stats.Linked < int64(n)*9/10 {
					b.Fatalf("linked %d of %d, %v", stats.Linked, n, stats)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n+spans), "ns/(sample+span)")
			})
		}
	}
}

// BenchmarkAdd measures the cost of adding a span to the index.
func BenchmarkAdd(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		x := NewIndex(Sentry, Limits{Spans: n, MaxAge: time.Hour})
		x.Add(benchSpans(n, n), start)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/span")
}

// BenchmarkUnmarshal is the baseline of BenchmarkLink.
func BenchmarkUnmarshal(b *testing.B) {
	const n = 100_000
	wire, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(benchProfile(n))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(wire); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sample")
}

// TestFull: two million spans use at most 150 MB of resident memory, and the garbage collector
// scans at most 5 MB of them, because records have no pointers. Ten spans share a trace, and a
// thousand a thread.
func TestFull(t *testing.T) {
	testsize.NeedFull(t)
	fullIndex(fullSpans / 100) // loads the code
	before, unscanned := residentBytes(t), scannableBytes()
	x := fullIndex(fullSpans)
	resident, scannable := residentBytes(t)-before, scannableBytes()-unscanned
	t.Logf("resident memory %d MB, %.1f bytes per span, of which %d kB are scanned", resident/1e6, float64(resident)/fullSpans, scannable/1e3)
	assert.LessOrEqual(t, resident, int64(150e6))
	assert.Less(t, scannable, int64(5e6))
	assert.Equal(t, fullSpans, x.Size().Spans)
}

// residentBytes returns the resident memory of the process without garbage.
func residentBytes(t *testing.T) (n int64) {
	t.Helper()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("needs /proc")
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	_, err = fmt.Sscan(after, &n)
	require.NoError(t, err)
	return n << 10
}

// scannableBytes returns the bytes of the heap that the garbage collector scans for pointers. The
// time to mark a heap follows from them.
func scannableBytes() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/scan/heap:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// BenchmarkFull: the memory of a full index, and the time that the garbage collector needs to mark
// it.
func BenchmarkFull(b *testing.B) {
	for b.Loop() {
		before := heapBytes()
		x := fullIndex(fullSpans)
		used := heapBytes() - before
		began := time.Now()
		runtime.GC()
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "GC-ms")
		b.ReportMetric(float64(used)/fullSpans, "B/span")
		runtime.KeepAlive(x)
	}
}

const fullSpans = 2_000_000

// fullIndex returns an index with n spans. Ten share a trace, and a thousand of two million a
// thread.
func fullIndex(n int) *Index {
	const threads = 2000
	spans := func(yield func(Span) bool) {
		sessions := make([][]Session, threads/10)
		for i := range sessions {
			sessions[i] = []Session{{Tenant: Tenant{Stated: fmt.Sprint(i % 10)}, Parts: [maxSessionParts]string{fmt.Sprintf("%032d", i)}}}
		}
		for i := range uint64(n) {
			of := sessions[i/10%uint64(len(sessions))]
			span := Span{
				Tenant: of[0].Tenant, Sessions: of, Thread: fmt.Sprint(i / 10 % threads),
				Trace: traceID(i/10 + 1), ID: spanID(i + 1), Segment: spanID(i/10*10 + 1), Start: i, End: i + 1000,
			}
			if i%10 > 0 {
				span.Parent = spanID(i)
			}
			if !yield(span) {
				return
			}
		}
	}
	x := NewIndex(Sentry, Limits{Spans: n, MaxAge: time.Hour})
	x.Add(spans, start)
	return x
}
