// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	keyDrift     = "sentry.clock_drift_ms"
	keyCorrected = "sentry.clock_drift_corrected"
)

// sentAgo is an envelope whose client says that it sent it that long ago.
func sentAgo(ago time.Duration, items ...string) string {
	header := fmt.Sprintf(`{"sent_at":%q}`, time.Now().Add(-ago).UTC().Format(time.RFC3339Nano))
	return header + envelope(items...)[len("{}"):]
}

func (s *signals) rootSpan(t *testing.T) ptrace.Span {
	t.Helper()
	require.Len(t, s.traces.AllTraces(), 1)
	return s.traces.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
}

// driftOn reads both attributes.
func driftOn(attrs pcommon.Map) (drift time.Duration, corrected bool) {
	if value, ok := attrs.Get(keyDrift); ok {
		drift = time.Duration(value.Int()) * time.Millisecond
	}
	value, ok := attrs.Get(keyCorrected)
	return drift, ok && value.Bool()
}

func profileDrift(all pprofile.Profiles, profile pprofile.Profile) (drift time.Duration, corrected bool) {
	attrs := pcommon.NewMap()
	for _, index := range profile.AttributeIndices().All() {
		attribute := all.Dictionary().AttributeTable().At(int(index))
		attribute.Value().CopyTo(attrs.PutEmpty(all.Dictionary().StringTable().At(int(attribute.KeyStrindex()))))
	}
	return driftOn(attrs)
}

var (
	profileStart = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	spanStart    = profileStart.Add(-500 * time.Millisecond)
)

// TestClockDrift: a V1 profile and its spans are moved together, by as much as the attribute says,
// or not at all.
func TestClockDrift(t *testing.T) {
	for _, test := range []struct {
		name      string
		correct   bool
		ago       time.Duration
		recorded  bool
		corrected bool
	}{
		{"recorded only", false, 2 * time.Hour, true, false},
		{"a clock that is late", true, 2 * time.Hour, true, true},
		{"a clock that is early", true, -2 * time.Hour, true, true},
		{"the time on the way", true, 50 * time.Minute, false, false},
		{"a phone without a battery", true, 56 * 365 * 24 * time.Hour, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := startSignals(t, func(c *Config) { c.CorrectClockDrift = test.correct })
			require.Equal(t, 200, s.post(sentAgo(test.ago, profileItem, item("transaction", "", fullTransaction))).status)
			all, profile := s.sink.only(t)
			span := s.rootSpan(t)
			onProfile, profileCorrected := profileDrift(all, profile)
			onSpan, spanCorrected := driftOn(span.Attributes())
			assert.Equal(t, onProfile, onSpan)
			assert.Equal(t, test.corrected, profileCorrected)
			assert.Equal(t, test.corrected, spanCorrected)
			if !test.recorded {
				assert.Zero(t, onSpan)
			} else {
				assert.InDelta(t, test.ago.Seconds(), onSpan.Seconds(), 5)
			}
			moved := time.Duration(0)
			if test.corrected {
				moved = onSpan
			}
			assert.Equal(t, profileStart.Add(moved), profile.Time().AsTime())
			assert.Equal(t, spanStart.Add(moved), span.StartTimestamp().AsTime())
			assert.Equal(t, time.Second, span.EndTimestamp().AsTime().Sub(span.StartTimestamp().AsTime()))
		})
	}
}

// What comes in several requests is not moved, however far the clock is off: each would be moved by
// another amount.
func TestClockDriftOfSessions(t *testing.T) {
	s := startSignals(t, func(c *Config) { c.CorrectClockDrift = true })
	require.Equal(t, 200, s.post(sentAgo(2*time.Hour, chunkItem)).status)
	all, chunk := s.sink.only(t)
	drift, corrected := profileDrift(all, chunk)
	assert.NotZero(t, drift)
	assert.False(t, corrected)
	assert.Equal(t, profileStart, chunk.Time().AsTime())

	const profiled = `{"type":"transaction","start_timestamp":1777629599.5,"timestamp":1777629600.5,"contexts":{` +
		`"profile":{"profiler_id":"1c6f0e4f0b2a4c3d8e9f00112233aabb"},` +
		`"trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071"}}}`
	for _, spans := range []string{
		item("transaction", "", profiled),
		item("span", `,"item_count":1,"content_type":"application/vnd.sentry.items.span.v2+json"`, spanContainer),
	} {
		s.traces.Reset()
		require.Equal(t, 200, s.post(sentAgo(2*time.Hour, spans)).status)
		drift, corrected := driftOn(s.rootSpan(t).Attributes())
		assert.NotZero(t, drift)
		assert.False(t, corrected)
		assert.Contains(t, []time.Time{spanStart, profileStart}, s.rootSpan(t).StartTimestamp().AsTime())
	}
}

// Drift is on the records, not on the resource, and on no data point.
func TestClockDriftOfLogsAndMetrics(t *testing.T) {
	s := startSignals(t, func(c *Config) { c.CorrectClockDrift = true })
	require.Equal(t, 200, s.post(sentAgo(2*time.Hour,
		item("event", "", errorEvent), item("trace_metric", `,"item_count":1`, metricContainer))).status)
	resource := s.logs.AllLogs()[0].ResourceLogs().At(0)
	record := resource.ScopeLogs().At(0).LogRecords().At(0)
	drift, corrected := driftOn(record.Attributes())
	assert.True(t, corrected)
	assert.Equal(t, profileStart.Add(drift), record.Timestamp().AsTime())
	assert.WithinDuration(t, time.Now(), record.ObservedTimestamp().AsTime(), time.Minute, "our own clock")
	onResource, _ := driftOn(resource.Resource().Attributes())
	assert.Zero(t, onResource)

	point := s.points.AllMetrics()[0].ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0)
	assert.Equal(t, profileStart.Add(drift), point.Timestamp().AsTime())
	assert.Zero(t, point.Attributes().Len())
}
