// SPDX-License-Identifier: Apache-2.0

//go:build kafka

package kafka

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const (
	// partitions is larger than the number of collectors, so that each gets several.
	partitions = 6
	// settleTimeout: two groups settle within the session timeout of 10 s, or a few seconds more if
	// the broker has just started. On a busy machine, the broker and each of Kafka's tools can take
	// a minute to start.
	settleTimeout = 4 * time.Minute
	// kafkaLinkWait is longer than the time between the settling of the two groups, and shorter
	// than the default of 30 s.
	kafkaLinkWait = 10 * time.Second
)

// TestKafka runs examples/kafka against a real broker: SDKs send to one collector, and two others,
// later four, read both signals from Kafka. Chunks and transactions of one profiler session, sent
// in separate requests, arrive at the same collector and are complete, even after a collector has
// stopped or been killed, and after it is back. The sessions of one project spread over all
// collectors.
func TestKafka(t *testing.T) {
	b := startBroker(t)
	b.createTopic(t, "sentry_profiles")
	b.createTopic(t, "sentry_spans")

	sinks := map[string]*harness.Sink{"a": harness.NewSink(t), "b": harness.NewSink(t), "c": harness.NewSink(t), "d": harness.NewSink(t)}
	linking, held := map[string]*harness.Collector{}, t.TempDir()
	startLinking := func(name string) {
		linking[name] = startExample(t, b, "linking.yaml", []string{"processors.profile_transform.link.wait=" + kafkaLinkWait.String()},
			"INSTANCE="+name, "OTLP_ENDPOINT="+sinks[name].URL(), "HELD_DIRECTORY="+filepath.Join(held, name))
	}
	startLinking("a")
	startLinking("b")
	b.waitBalanced(t, "a", "b")
	queue := t.TempDir()
	startEdge := func() *harness.Collector {
		edge := startExample(t, b, "config.yaml", nil, "QUEUE_DIRECTORY="+queue)
		require.NoError(t, edge.WaitReady())
		return edge
	}
	edge := startEdge()

	t.Run("each session in one collector", func(t *testing.T) {
		d := deliver(t, edge, sinks, newKeys(12))
		require.NotEmpty(t, d.of("a"), "both have work")
		require.NotEmpty(t, d.of("b"), "both have work")
	})
	t.Run("a profile above the limit of a message", func(t *testing.T) {
		id := harness.NewID()
		got := edge.Send(t, withKey(harness.LargeChunk(id).Request(), newKeys(1)[0]))
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		n := 0
		for deadline := time.Now().Add(settleTimeout); n < harness.LargeSamples; time.Sleep(100 * time.Millisecond) {
			require.True(t, time.Now().Before(deadline), "%d of %d observations arrive", n, harness.LargeSamples)
			for _, sink := range sinks {
				n += harness.DrainParts(t, sink, id)
			}
		}
		require.Equal(t, harness.LargeSamples, n)
	})
	t.Run("one is gone, the other takes over", func(t *testing.T) {
		linking["b"].Stop(t)
		d := deliver(t, edge, sinks, newKeys(12))
		require.Len(t, d.of("a"), 12)
		b.waitBalanced(t, "a")
	})
	t.Run("it is back", func(t *testing.T) {
		startLinking("b")
		b.waitBalanced(t, "a", "b")
		d := deliver(t, edge, sinks, newKeys(12))
		require.NotEmpty(t, d.of("a"))
		require.NotEmpty(t, d.of("b"))
	})
	t.Run("Kafka is away, and the receiving collector is killed", func(t *testing.T) {
		b.Stop(t)
		d := send(t, edge, newKeys(6))
		edge.Kill()
		b.start(t)
		b.waitBalanced(t, "a", "b") // links would be lost while only one group has settled
		edge = startEdge()
		d.wait(t, sinks)
	})
	t.Run("one project over four collectors", func(t *testing.T) {
		startLinking("c")
		startLinking("d")
		b.waitBalanced(t, "a", "b", "c", "d")
		project := slices.Repeat(newKeys(1), 40)
		d := deliver(t, edge, sinks, project)
		for name := range sinks {
			require.NotEmpty(t, d.of(name), "%s has work", name)
		}
		linking["c"].Kill()
		d = send(t, edge, project)
		b.waitBalanced(t, "a", "b", "d")
		d.wait(t, sinks)
		require.Empty(t, d.of("c"))
		startLinking("c")
		b.waitBalanced(t, "a", "b", "c", "d")
		d = deliver(t, edge, sinks, project)
		require.NotEmpty(t, d.of("c"), "it is back")
	})
}

// delivery records, for each profiler session, the sent data and the collectors that output it.
type delivery map[string]*sent

type sent struct {
	session
	profile, trace string // names of collectors
	linked         string // span of the profile's sample; empty if unlinked
}

// of returns the sessions whose profile a collector output.
func (d delivery) of(collector string) (sessions []string) {
	for session, sent := range d {
		if sent.profile == collector {
			sessions = append(sessions, session)
		}
	}
	return sessions
}

func deliver(t *testing.T, edge *harness.Collector, sinks map[string]*harness.Sink, keys []string) delivery {
	t.Helper()
	d := send(t, edge, keys)
	d.wait(t, sinks)
	return d
}

// send sends a chunk and a transaction of a new session for each public key, in separate requests.
func send(t *testing.T, edge *harness.Collector, keys []string) delivery {
	t.Helper()
	d := delivery{}
	for i, key := range keys {
		s := newSession()
		d[s.profiler] = &sent{session: s}
		requests := []harness.Request{withKey(s.chunk(), key), withKey(s.transaction(), key)}
		if i%2 == 1 {
			requests[0], requests[1] = requests[1], requests[0]
		}
		for _, r := range requests {
			got := edge.Send(t, r)
			require.Equal(t, http.StatusOK, got.Status, got.Body)
		}
	}
	return d
}

// wait waits for all output. For each session, chunk and transaction must come from the same
// collector, and the sample must be linked to the span.
func (d delivery) wait(t *testing.T, sinks map[string]*harness.Sink) {
	t.Helper()
	d.collect(t, sinks)
	d.requireLinked(t)
	for session, sent := range d {
		require.Equal(t, sent.profile, sent.trace, "the profile and the span of session %s come from different collectors", session)
	}
}

func (d delivery) requireLinked(t *testing.T) {
	t.Helper()
	for session, sent := range d {
		require.Equal(t, sent.span, sent.linked, "the link of session %s", session)
	}
}

// collect waits until each session has a profile and a span. Of repeated messages, the first with a
// link counts.
func (d delivery) collect(t *testing.T, sinks map[string]*harness.Sink) {
	t.Helper()
	for deadline := time.Now().Add(settleTimeout); !d.complete(); time.Sleep(100 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "not everything arrives")
		for name, sink := range sinks {
			for _, message := range sink.DrainProfiles() {
				profiles, err := harness.DecodeProfiles(message)
				require.NoError(t, err)
				if sent, ours := d[harness.ProfileAttribute(profiles, "sentry.profiler_id")]; ours && sent.linked == "" {
					sent.profile, sent.linked = name, linkedSpan(profiles)
				}
			}
			for _, message := range sink.Drain(harness.TracesPath) {
				if sent, ours := d[profilerOfSpan(t, message)]; ours {
					sent.trace = name
				}
			}
		}
	}
}

func (d delivery) complete() bool {
	for _, sent := range d {
		if sent.profile == "" || sent.trace == "" {
			return false
		}
	}
	return true
}

// session is a profiler session with one thread that ran one span.
type session struct{ profiler, trace, span string }

const sessionStart = 1_795_223_440

func newSession() session { return session{harness.NewID(), harness.NewID(), harness.NewID()[:16]} }

func (s session) chunk() harness.Request {
	return harness.ItemRequest("profile_chunk", fmt.Sprintf(`{"version":"2","platform":"python","profiler_id":"%s","chunk_id":"%s",`+
		`"client_sdk":{"name":"sentry.python","version":"2.68.0"},"profile":{"frames":[{"function":"work"}],"stacks":[[0]],`+
		`"samples":[{"timestamp":%d.5,"thread_id":"1","stack_id":0}],"thread_metadata":{"1":{"name":"main"}}}}`,
		s.profiler, harness.NewID(), sessionStart))
}

func (s session) transaction() harness.Request {
	return harness.ItemRequest("transaction", fmt.Sprintf(`{"type":"transaction","event_id":"%s","platform":"python","transaction":"GET /",`+
		`"start_timestamp":%d,"timestamp":%d,"contexts":{"profile":{"profiler_id":"%s"},`+
		`"trace":{"trace_id":"%s","span_id":"%s","op":"http.server","data":{"thread.id":"1","thread.name":"main"}}},"spans":[]}`,
		harness.NewID(), sessionStart, sessionStart+1, s.profiler, s.trace, s.span))
}

func newKeys(n int) (keys []string) {
	for range n {
		keys = append(keys, harness.NewID())
	}
	return keys
}

func withKey(r harness.Request, key string) harness.Request {
	for i, h := range r.Headers {
		r.Headers[i][1] = strings.ReplaceAll(h[1], harness.TestKey, key)
	}
	return r
}

// linkedSpan returns the span that the only sample is linked to.
func linkedSpan(profiles pprofile.Profiles) string {
	link := dictionary.LinkIndex(harness.OnlyProfile(profiles).Samples().At(0).LinkIndex())
	_, span, _ := dictionary.NewView(profiles.Dictionary()).Link(link)
	return span.String()
}

func profilerOfSpan(t *testing.T, message []byte) string {
	t.Helper()
	request := ptraceotlp.NewExportRequest()
	require.NoError(t, request.UnmarshalProto(message))
	span := request.Traces().ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	profiler, ok := span.Attributes().Get("sentry.profiler_id")
	require.True(t, ok, "the span names its profiler")
	return profiler.Str()
}
