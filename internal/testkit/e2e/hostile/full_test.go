// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostileFull: the largest requests reach a collector with the configuration of the container
// image, in 1 GiB, after its link index, its queue of profiles and the viewer were filled. The
// collector lives, and a message of another project arrives.
func TestHostileFull(t *testing.T) {
	varies(t, "requests that need the most memory, with the configuration of the container image, while all its stores are full")
	c, in := startImage(t)
	fillStores(t, c, in)
	t.Logf("%d MiB with full stores", c.RequirePeakMemory(t))
	for _, a := range fullAttacks {
		t.Run(a.name, func(t *testing.T) { a.run(t, c, in) })
	}
}

// fullLimit is the maximum of the resident memory in MiB. It includes the mapped file of
// file_storage, which attackLimit does not.
const fullLimit = attackLimit + 256

// fullAttack is a request that several clients repeat.
type fullAttack struct {
	name           string
	clients, times int
	request        func() harness.Request
}

var fullAttacks = []fullAttack{
	{"4 chunks at once with a million threads each", 4, 1, threads(million)},
	{"20 chunks with a million threads each", 1, 20, threads(million)},
	{"4 times 5 chunks with 300,000 threads each", 4, 5, threads(300_000)},
	{"4 times 5 chunks with 250,000 functions each", 4, 5, func() harness.Request {
		return harness.Chunk{
			Frames: harness.List(250_000, harness.Numbered(`{"function":"`, `"}`)),
			Stacks: "[" + harness.List(250_000, harness.Numbered("", "")) + "]",
		}.Request()
	}},
}

// threads returns a function for chunks with n threads of one sample each.
func threads(n int) func() harness.Request {
	return func() harness.Request {
		return harness.Chunk{Samples: harness.List(n, harness.Numbered(`{"timestamp":1,"thread_id":`, `,"stack_id":0}`))}.Request()
	}
}

func (a fullAttack) run(t *testing.T, c *harness.Collector, in inputs) {
	r := a.request()
	body := zipped(r.Body)
	r.Body = body
	r = r.WithEncoding("gzip")

	begin := time.Now()
	var clients sync.WaitGroup
	var status atomic.Int64
	for range a.clients {
		clients.Go(func() {
			for range a.times {
				if got, err := c.TrySend(r); err == nil {
					status.Store(int64(got.Status))
				}
			}
		})
	}
	arriving := arrives(t, c, in)
	clients.Wait()
	took := time.Since(begin)
	require.True(t, c.Running(), "the collector lives")
	t.Logf("during the attack, a message of another project arrived after %s, afterwards after %s",
		arriving.Round(time.Millisecond), arrives(t, c, in).Round(time.Millisecond))
	reportAttack(t, c, a.clients*a.times*len(body), int(status.Load()), took, fullLimit)
}

// arrives sends a transaction of another project, until the collector accepts it, and returns the
// time until the viewer shows it.
func arrives(t *testing.T, c *harness.Collector, in inputs) time.Duration {
	t.Helper()
	begin, trace := time.Now(), harness.NewID()
	good := harness.ItemRequest("transaction", `{"type":"transaction","transaction":"good","start_timestamp":1700000000,"timestamp":1700000001,`+
		`"contexts":{"trace":{"trace_id":"`+trace+`","span_id":"0000000000000001"}}}`)
	good.Target = "/api/43/envelope/?sentry_key=" + strings.Repeat("b", 32)
	good.Headers = nil
	require.Eventually(t, func() bool {
		got, err := c.TrySend(good)
		return !c.Running() || err == nil && got.Status == http.StatusOK
	}, 30*time.Second, 10*time.Millisecond, "a message of another project is accepted")
	require.Eventually(t, func() bool {
		response, err := http.Get("http://" + in.page + "/api/traces/" + trace)
		if err != nil {
			return !c.Running()
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 30*time.Second, 10*time.Millisecond, "a message of another project arrives")
	return time.Since(begin)
}

// fillStores fills the link index with spans of many threads, the viewer with log records and the
// queue of profiles: first with profiles that take many times their size, then with text that
// cannot be compressed.
func fillStores(t *testing.T, c *harness.Collector, in inputs) {
	t.Helper()
	for i := range 30 {
		trace := make([]byte, 16)
		_, _ = rand.Read(trace) // never fails
		message := spans("", 0, 10_000, func(n int, s *tracepb.Span) {
			s.TraceId = trace
			s.Attributes = []*commonpb.KeyValue{
				{Key: "thread.id", Value: textValue(fmt.Sprint(i*10_000 + n))},
				{Key: "sentry.profiler_id", Value: textValue(testTrace)},
			}
		}).message()
		require.Equal(t, http.StatusOK, postOTLP(t, "http://"+in.http+harness.TracesPath, message))
	}
	record := func(n int) *logspb.LogRecord {
		return &logspb.LogRecord{TimeUnixNano: uint64(time.Now().UnixNano()), SeverityText: "ERROR", Body: textValue(randomText(n))}
	}
	for range 60 {
		records := make([]*logspb.LogRecord, 35)
		for i := range records {
			records[i] = record(100_000)
		}
		message := marshalled(&logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{Resource: service(), ScopeLogs: []*logspb.ScopeLogs{{LogRecords: records}}}}})
		require.Equal(t, http.StatusOK, postOTLP(t, "http://"+in.http+"/v1/logs", message))
	}
	send := func(project int, r harness.Request) {
		r.Target = fmt.Sprintf("/api/%d/envelope/?sentry_key=%s", project, harness.TestKey)
		r.Headers = nil
		require.Eventually(t, func() bool { return c.Send(t, r).Status != http.StatusTooManyRequests }, 30*time.Second, 10*time.Millisecond)
	}
	for range 5 {
		send(42, threads(200_000)())
	}
	for range 70 {
		frame := func(b []byte, _ int) []byte {
			return append(append(append(b, `{"function":"`...), randomText(4000)...), `"}`...)
		}
		send(42, harness.Chunk{Frames: harness.List(1000, frame), Stacks: "[" + harness.List(1000, harness.Numbered("", "")) + "]"}.Request())
	}
	metrics := c.Scrape(t)
	t.Logf("index %d MiB of %d, %d MiB of held profiles", metrics.Sum("otelcol_processor_profile_transform_index_bytes")>>20,
		metrics.Sum("otelcol_processor_profile_transform_index_limit")>>20, metrics.Sum("otelcol_processor_profile_transform_held_bytes")>>20)
}

// randomText returns n random hexadecimal digits.
func randomText(n int) string {
	random := make([]byte, n/2)
	_, _ = rand.Read(random) // never fails
	return hex.EncodeToString(random)
}
