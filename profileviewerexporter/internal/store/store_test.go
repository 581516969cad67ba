// SPDX-License-Identifier: Apache-2.0

package store

import (
	"crypto/rand"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
)

// TestExpire: nothing refers to an expired message.
func TestExpire(t *testing.T) {
	s, now, trace := New(1<<20, time.Hour), time.Now(), timelinetest.Trace(7)
	linked := timelinetest.Sample{Stack: "main", Span: 7, At: []time.Duration{0}}
	_, err := s.AddProfiles(t.Context(), timelinetest.Message("shop", timelinetest.Wall, linked), now)
	require.NoError(t, err)
	traces := ptrace.NewTraces()
	traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetTraceID(trace)
	_, err = s.AddTraces(t.Context(), traces, now)
	require.NoError(t, err)
	logs := plog.NewLogs()
	logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().SetTraceID(trace)
	_, err = s.AddLogs(t.Context(), logs, now)
	require.NoError(t, err)
	require.Len(t, s.Trace(trace), 2)
	require.Equal(t, 1, s.LinkedCount(trace))

	s.Expire(now.Add(time.Hour))
	assert.Equal(t, 3, s.Stats().Messages)
	s.Expire(now.Add(time.Hour + 1))
	assert.Equal(t, Stats{Version: 6, Evicted: 3}, s.Stats())
	assert.Empty(t, s.profiles)
	assert.Empty(t, s.fragments)
	assert.Empty(t, s.linked)
}

// TestTenantOfAMessage: a message belongs to the sender that its context states, whatever project
// its resources state.
func TestTenantOfAMessage(t *testing.T) {
	s, sender := New(1<<20, time.Hour), tenant.Tenant{Ingress: tenant.Sentry, Name: "1"}
	ctx := tenant.NewContext(t.Context(), sender)
	profiles, traces, logs, metrics := pprofile.NewProfiles(), ptrace.NewTraces(), plog.NewLogs(), pmetric.NewMetrics()
	p, r, l, m := profiles.ResourceProfiles().AppendEmpty(), traces.ResourceSpans().AppendEmpty(), logs.ResourceLogs().AppendEmpty(), metrics.ResourceMetrics().AppendEmpty()
	for _, resource := range []pcommon.Resource{p.Resource(), r.Resource(), l.Resource(), m.Resource()} {
		resource.Attributes().PutStr("sentry.project_id", "2")
	}
	p.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	r.ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetTraceID(timelinetest.Trace(7))
	l.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	m.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
	for _, add := range []func() (bool, error){
		func() (bool, error) { return s.AddProfiles(ctx, profiles, time.Now()) },
		func() (bool, error) { return s.AddTraces(ctx, traces, time.Now()) },
		func() (bool, error) { return s.AddLogs(ctx, logs, time.Now()) },
		func() (bool, error) { return s.AddMetrics(ctx, metrics, time.Now()) },
	} {
		stored, err := add()
		require.NoError(t, err)
		assert.True(t, stored)
	}
	assert.Equal(t, 4, s.messages.Len())
	for e := s.messages.Oldest(); e != nil; e = e.Newer() {
		assert.Equal(t, sender, e.Tenant())
	}
}

// TestOneTraceFillsTheStore: the time of an eviction depends on the evicted message, not on the
// rest of its trace.
func TestOneTraceFillsTheStore(t *testing.T) {
	const messages = 20_000
	s := New(messages/2*2*perMessage, time.Hour)
	before := totalAlloc()
	for range messages {
		m := &Message{Signal: Traces, Arrived: time.Now()}
		fragmentsOf(m).of(timelinetest.Trace(7), "shop").Spans = 1
		m.Profiles = []*Profile{{Message: m, Spans: map[timeline.Link]Sum{{Trace: timelinetest.Trace(7)}: {}}}}
		s.add(m)
	}
	require.Greater(t, s.Stats().Evicted, int64(messages/4))
	assert.Less(t, totalAlloc()-before, int64(messages*8*perMessage))
	assert.Len(t, s.Trace(timelinetest.Trace(7)), s.Stats().Messages)
	assert.Len(t, s.LinkedProfiles(timelinetest.Trace(7)), s.Stats().Messages)
}

func totalAlloc() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.TotalAlloc)
}

// TestSize: the store uses no more memory than it counts, with few texts or many, in one message or
// many.
func TestSize(t *testing.T) {
	long := strings.Repeat("x", timeline.MaxText)
	messageOf := func(traces, spans, profiles int, text string) *Message {
		m := &Message{Signal: Traces, Arrived: time.Now(), otlp: make([]byte, 100)}
		fragments := fragmentsOf(m)
		for range traces {
			f := fragments.of(pcommon.TraceID(randomBytes(16)), "shop")
			f.root, f.first = strings.Clone(text), strings.Clone(text)
		}
		for range profiles {
			p := &Profile{Message: m, Name: strings.Clone(text), ProfileID: strings.Repeat("0", 32), Spans: map[timeline.Link]Sum{}}
			for range spans {
				p.Spans[timeline.Link{Trace: pcommon.TraceID(randomBytes(16)), Span: pcommon.SpanID(randomBytes(8))}] = Sum{1, 1}
			}
			m.Profiles = append(m.Profiles, p)
		}
		return m
	}
	for name, build := range map[string]func(*Store){
		"messages": func(s *Store) {
			for range 10_000 {
				s.add(messageOf(1, 0, 0, "x"))
			}
		},
		"projects": func(s *Store) {
			for i := range 10_000 {
				m := messageOf(1, 0, 0, "x")
				m.Tenant.Name = fmt.Sprint(i, long)
				s.add(m)
			}
		},
		"traces":    func(s *Store) { s.add(messageOf(30_000, 0, 0, "x")) },
		"names":     func(s *Store) { s.add(messageOf(3_000, 0, 0, long)) },
		"profiles":  func(s *Store) { s.add(messageOf(0, 0, 30_000, "x")) },
		"one span":  func(s *Store) { s.add(messageOf(0, 1, 20_000, "x")) },
		"all spans": func(s *Store) { s.add(messageOf(0, 40_000, 1, "x")) },
	} {
		before := heap()
		s := New(1<<40, time.Hour)
		build(s)
		used, counted := heap()-before, s.Stats().Bytes
		runtime.KeepAlive(s)
		t.Logf("%-10s used %6d kB, counted %6d kB", name, used>>10, counted>>10)
		assert.Less(t, used, counted*5/4, name)
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// heap returns the number of bytes in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
