// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
)

func TestTheOldestGoFirst(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	body := strings.Repeat("x", 100<<10)
	h.addProfile("shop", shop...)
	h.addSpans("shop", 7, testSpan{7, 0, "query", 0, 10})
	for i := range 9 {
		h.addLog("shop", fmt.Sprint(i, body), 7, 7)
	}
	before := get[overviewAnswer](h, "overview")
	require.Len(t, before.Profiles, 1)
	require.Len(t, before.Traces, 1)

	h.addLog("shop", "9"+body, 7, 7)
	h.addLog("shop", "10"+body, 7, 7)
	after := get[overviewAnswer](h, "overview")
	assert.Empty(t, after.Profiles)
	assert.Empty(t, after.Traces)
	assert.Equal(t, int64(3), after.Evicted, "the profile, the spans and a log record")
	assert.LessOrEqual(t, after.Bytes, int64(minMaxBytes))
	assert.Len(t, get[logsAnswer](h, "logs").Records, 10)
	status, _ := h.fails("flame?profile=1")
	assert.Equal(t, 410, status)

	s := h.viewer.store
	s.expire(time.Now().Add(2 * time.Hour))
	use := s.use()
	assert.Zero(t, use.Bytes)
	assert.Zero(t, use.Messages)
	assert.Empty(t, s.profiles)
	assert.Empty(t, s.shares)
	assert.Empty(t, s.linking)
}

func TestAge(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxAge = time.Second })
	h.addProfile("shop", shop...)
	require.Len(t, get[overviewAnswer](h, "overview").Profiles, 1)
	assert.Eventually(t, func() bool { return len(get[overviewAnswer](h, "overview").Profiles) == 0 }, 5*time.Second, 100*time.Millisecond)
}

// What is larger than the store is counted and left out, and what is in the store stays. It is no error: the pipeline has other
// exporters, and its receiver clients that would be told to stop sending.
func TestTooLarge(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	h.addProfile("shop", shop...)
	h.addLog("shop", strings.Repeat("x", minMaxBytes), 0, 0)
	overview := get[overviewAnswer](h, "overview")
	assert.Len(t, overview.Profiles, 1)
	assert.Equal(t, int64(1), overview.Dropped)
	m, err := h.telemetry.GetMetric("otelcol_exporter_profile_viewer_dropped_messages")
	require.NoError(t, err)
	assert.Equal(t, int64(1), m.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
}

// A summary counts too: a message with a span per sample has more of it than of samples.
func TestSummariesCount(t *testing.T) {
	message := timelinetest.Message("shop", timelinetest.Wall, shop[0])
	p := timelinetest.Profile(message)
	links := message.Dictionary().LinkTable()
	for i := range 1000 {
		link := links.AppendEmpty()
		link.SetTraceID(timelinetest.Trace(1))
		link.SetSpanID([8]byte{1, byte(i), byte(i >> 8)})
		sample := p.Samples().AppendEmpty()
		p.Samples().At(0).CopyTo(sample)
		sample.SetLinkIndex(int32(links.Len() - 1))
	}
	h := start(t, nil)
	h.consume(message)
	assert.Greater(t, h.viewer.store.use().Bytes, int64(1000*perSpan))
	assert.Equal(t, 1001, get[overviewAnswer](h, "overview").Profiles[0].Spans)
	assert.Len(t, get[profileAnswer](h, "profiles/1").SpanList, maxSpansListed)
}

func TestSeveralProfilesInAMessage(t *testing.T) {
	message := timelinetest.Message("shop", timelinetest.Wall, shop...)
	scope := message.ResourceProfiles().At(0).ScopeProfiles().At(0)
	scope.Profiles().At(0).CopyTo(scope.Profiles().AppendEmpty())
	scope.Profiles().At(1).Samples().RemoveIf(func(s pprofile.Sample) bool { return s.LinkIndex() == 0 })
	h := start(t, nil)
	h.consume(message)
	require.Len(t, get[overviewAnswer](h, "overview").Profiles, 2)
	const alone = 40 * ms // without the sample between them, the gap is larger
	assert.Equal(t, int64(alone), get[flameAnswer](h, "flame?profile=2").Total)
	assert.Equal(t, int64(90*ms+alone), get[flameAnswer](h, "flame?profile=1&profile=2").Total)
	assert.Equal(t, 1, h.viewer.store.use().Messages)
}

func TestEmptyMessages(t *testing.T) {
	h := start(t, nil)
	h.consume(pprofile.NewProfiles())
	require.NoError(t, h.traces.ConsumeTraces(context.Background(), ptrace.NewTraces()))
	assert.Zero(t, h.viewer.store.use().Messages)
}

// Everybody at once: pipelines bring, the oldest go, and people look at what is just going.
func TestConcurrency(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 150 {
				assert.NoError(t, h.profiles.ConsumeProfiles(context.Background(), timelinetest.Message("shop", timelinetest.Wall, shop...)))
				if i%10 == 0 {
					h.addSpans("shop", 7, testSpan{7, 0, "query", 0, 10})
					h.addLog("shop", strings.Repeat("x", 50<<10), 7, 7)
				}
			}
		})
		all.Go(func() {
			for i := range 40 {
				for _, path := range []string{"overview", fmt.Sprintf("flame?profile=%d", i*10+1), "flame?" + span7, "traces/00000000000000000000000000000007", "logs"} {
					response, body := h.request("/api/" + path)
					assert.Contains(t, []int{200, 404, 410}, response.StatusCode, "%s: %s", path, body)
				}
			}
		})
	}
	all.Wait()
	use := h.viewer.store.use()
	assert.Positive(t, use.Evicted)
	assert.LessOrEqual(t, use.Bytes, int64(minMaxBytes))
}

// TestProjectsShareTheStore: a project that sends more than fits evicts its own messages.
func TestProjectsShareTheStore(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	send := func(project, body string) {
		logs := plog.NewLogs()
		resource := logs.ResourceLogs().AppendEmpty()
		if project != "" {
			resource.Resource().Attributes().PutStr("sentry.project_id", project)
		}
		resource.Resource().Attributes().PutStr("service.name", "of "+project)
		resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(body)
		require.NoError(t, h.logs.ConsumeLogs(t.Context(), logs))
	}
	send("1", "quiet")
	send("", "of no project")
	for i := range 40 {
		send("2", fmt.Sprint(i, strings.Repeat("x", 100<<10)))
	}
	var quiet []string
	var loud int
	for _, r := range get[logsAnswer](h, "logs").Records {
		if r.Service == "of 2" {
			loud++
		} else {
			quiet = append(quiet, r.Body)
		}
	}
	assert.Equal(t, []string{"of no project", "quiet"}, slices.Sorted(slices.Values(quiet)))
	assert.Equal(t, 10, loud, "as many as fit")
	h.viewer.store.expire(time.Now().Add(2 * time.Hour))
	assert.Zero(t, h.viewer.store.use().Messages)
}

// TestProjectOfAMessage: a message of profiles belongs to the project of its first resource.
func TestProjectOfAMessage(t *testing.T) {
	h := start(t, func(*Config) {})
	profiles := pprofile.NewProfiles()
	for _, project := range []string{"1", "2"} {
		resource := profiles.ResourceProfiles().AppendEmpty()
		resource.Resource().Attributes().PutStr("sentry.project_id", project)
		resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	}
	require.NoError(t, h.viewer.keepProfiles(t.Context(), profiles))
	assert.Equal(t, "1", h.viewer.store.messages.Oldest().Tenant())
}

// TestOneTraceFillsTheStore: an eviction takes time in proportion to what is evicted, not to what is left of its trace.
func TestOneTraceFillsTheStore(t *testing.T) {
	const messages = 20_000
	s := newStore(messages/2*2*perMessage, time.Hour)
	before := totalAlloc()
	for range messages {
		m := &message{signal: signalTraces, arrived: time.Now()}
		sharesOf(m).of(timelinetest.Trace(7), "shop").spans = 1
		m.profiles = []*profileSummary{{message: m, spans: map[timeline.Link]linked{{Trace: timelinetest.Trace(7)}: {}}}}
		s.add(m)
	}
	require.Greater(t, s.use().Evicted, int64(messages/4))
	assert.Less(t, totalAlloc()-before, int64(messages*8*perMessage))
	assert.Len(t, s.sharesOf(timelinetest.Trace(7)), s.use().Messages)
	assert.Len(t, s.linkedTo(timelinetest.Trace(7)), s.use().Messages)
}

func totalAlloc() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.TotalAlloc)
}

// TestKeptBytes: the memory that is counted is the memory that is held, with few texts or many, in one message or many.
func TestKeptBytes(t *testing.T) {
	long := strings.Repeat("x", longestText)
	messageOf := func(traces, spans, profiles int, text string) *message {
		m := &message{signal: signalTraces, arrived: time.Now(), otlp: make([]byte, 100)}
		shares := sharesOf(m)
		for range traces {
			share := shares.of(pcommon.TraceID(randomBytes(16)), "shop")
			share.root, share.first = strings.Clone(text), strings.Clone(text)
		}
		for range profiles {
			p := &profileSummary{message: m, name: strings.Clone(text), profileID: strings.Repeat("0", 32), spans: map[timeline.Link]linked{}}
			for range spans {
				p.spans[timeline.Link{Trace: pcommon.TraceID(randomBytes(16)), Span: pcommon.SpanID(randomBytes(8))}] = linked{1, 1}
			}
			m.profiles = append(m.profiles, p)
		}
		return m
	}
	for name, build := range map[string]func(*store){
		"messages": func(s *store) {
			for range 10_000 {
				s.add(messageOf(1, 0, 0, "x"))
			}
		},
		"projects": func(s *store) {
			for i := range 10_000 {
				m := messageOf(1, 0, 0, "x")
				m.project = fmt.Sprint(i, long)
				s.add(m)
			}
		},
		"traces":    func(s *store) { s.add(messageOf(30_000, 0, 0, "x")) },
		"names":     func(s *store) { s.add(messageOf(3_000, 0, 0, long)) },
		"profiles":  func(s *store) { s.add(messageOf(0, 0, 30_000, "x")) },
		"one span":  func(s *store) { s.add(messageOf(0, 1, 20_000, "x")) },
		"all spans": func(s *store) { s.add(messageOf(0, 40_000, 1, "x")) },
	} {
		before := heap()
		s := newStore(1<<40, time.Hour)
		build(s)
		held, counted := heap()-before, s.use().Bytes
		runtime.KeepAlive(s)
		t.Logf("%-10s held %6d kB, counted %6d kB", name, held>>10, counted>>10)
		assert.Less(t, held, counted*5/4, name)
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}
