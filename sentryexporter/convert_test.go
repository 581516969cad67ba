// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// exporters are those of all signals, made by the factory as the collector makes them.
type exporters struct {
	*harness
	profiles func(pprofile.Profiles) error
	traces   func(ptrace.Traces) error
	logs     func(plog.Logs) error
	points   func(pmetric.Metrics) error
}

func startBoth(t *testing.T, edit func(*Config)) exporters {
	t.Helper()
	h := &harness{t: t, sentry: fakesentry.StartInMemory(t), metrics: componenttest.NewTelemetry()}
	t.Cleanup(func() { require.NoError(t, h.metrics.Shutdown(context.Background())) })
	set := h.settings()
	core, observed := observer.New(zap.DebugLevel)
	set.Logger, h.logs = zap.New(core), observed
	cfg, f := testConfig(h.sentry, edit), NewFactory()
	profiles, err := createProfiles(t.Context(), set, cfg)
	require.NoError(t, err)
	traces, err := f.CreateTraces(t.Context(), set, cfg)
	require.NoError(t, err)
	logs, err := f.CreateLogs(t.Context(), set, cfg)
	require.NoError(t, err)
	metrics, err := f.CreateMetrics(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, logs.Start(t.Context(), h.host()))
	require.NoError(t, metrics.Start(t.Context(), h.host()))
	require.NoError(t, profiles.Start(t.Context(), h.host()))
	require.NoError(t, traces.Start(t.Context(), h.host()))
	t.Cleanup(func() {
		require.NoError(t, profiles.Shutdown(context.Background()))
		require.NoError(t, traces.Shutdown(context.Background()))
		require.NoError(t, logs.Shutdown(context.Background()))
		require.NoError(t, metrics.Shutdown(context.Background()))
	})
	return exporters{h,
		func(p pprofile.Profiles) error { return profiles.ConsumeProfiles(t.Context(), p) },
		func(p ptrace.Traces) error { return traces.ConsumeTraces(t.Context(), p) },
		func(p plog.Logs) error { return logs.ConsumeLogs(t.Context(), p) },
		func(p pmetric.Metrics) error { return metrics.ConsumeMetrics(t.Context(), p) },
	}
}

// someProfile has three observations of one stack, of a sample type.
func someProfile(sampleType, unit string) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String(sampleType), b.String(unit))
	profile.SetTime(1_700_000_000_000_000_000)
	profile.SetDurationNano(uint64(time.Second))
	sample := profile.Samples().AppendEmpty()
	sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{
		Lines: []dictionary.Line{{Function: b.Function(dictionary.Function{Name: b.String("render")})}},
	})})))
	sample.TimestampsUnixNano().Append(1_700_000_000_100_000_000, 1_700_000_000_200_000_000, 1_700_000_000_300_000_000)
	b.Finish()
	return p
}

// testStart is the start of all spans: old ones do not become transactions.
var testStart = pcommon.NewTimestampFromTime(time.Now().Add(-time.Second))

// someSpan is the root of a trace.
func someSpan() ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	span := resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetName("GET /cart")
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{2})
	span.SetStartTimestamp(testStart)
	span.SetEndTimestamp(testStart + 1e9)
	return traces
}

// TestProfilesAndTracesMeet: the two exporters are two components, and what they send has one
// profiler session.
func TestProfilesAndTracesMeet(t *testing.T) {
	e := startBoth(t, withoutQueue)
	require.NoError(t, e.profiles(someProfile("samples", "count")))
	require.NoError(t, e.traces(someSpan()))

	taken := e.sentry.Taken()
	require.Len(t, taken, 2)
	d := profile.AcquireDecoder()
	defer d.Release()
	chunk, err := d.Chunk(taken[0].Items[0].Payload)
	require.NoError(t, err)
	assert.Equal(t, sentry.ClientSDK{Name: "otelcol-test", Version: "1.2.3"}, chunk.ClientSDK)
	transaction, err := event.DecodeTransaction(taken[1].Items[0].Payload)
	require.NoError(t, err)
	assert.NotEmpty(t, chunk.ProfilerID)
	assert.Equal(t, chunk.ProfilerID, transaction.ProfilerID)
	assert.NotEmpty(t, taken[1].Header.EventID, "else Sentry would make one up with each retry")
}

// TestSpansNameOneSession: a span cannot name the sessions of both kinds of profiles. It names that
// of the CPU profiles, or that of the wall-clock profiles where there are no others.
func TestSpansNameOneSession(t *testing.T) {
	e := startBoth(t, withoutQueue)
	sessions := map[string]string{}
	for i, kind := range []string{"wall", "cpu", "wall"} {
		require.NoError(t, e.profiles(someProfile(kind, "nanoseconds")))
		require.NoError(t, e.traces(someSpan()))
		taken := e.sentry.Taken()
		require.Len(t, taken, 2*i+2)
		d := profile.AcquireDecoder()
		defer d.Release()
		chunk, err := d.Chunk(taken[2*i].Items[0].Payload)
		require.NoError(t, err)
		sessions[kind] = strings.Clone(chunk.ProfilerID)
		transaction, err := event.DecodeTransaction(taken[2*i+1].Items[0].Payload)
		require.NoError(t, err)
		assert.Equal(t, sessions[[]string{"wall", "cpu", "cpu"}[i]], transaction.ProfilerID, i)
	}
	assert.NotEqual(t, sessions["cpu"], sessions["wall"])
}

func TestSpansInContainers(t *testing.T) {
	e := startBoth(t, func(cfg *Config) { withoutQueue(cfg); cfg.SpansAs = spansAsContainers })
	require.NoError(t, e.traces(someSpan()))
	taken := e.sentry.Taken()
	require.Len(t, taken, 1)
	assert.Equal(t, sentry.ItemSpan, taken[0].Items[0].Header.Type)
	assert.Equal(t, sentry.ContentTypeSpans, taken[0].Items[0].Header.ContentType)
	require.NotNil(t, taken[0].Header.Trace, "Sentry takes no container without")
	assert.Equal(t, fakesentry.PublicKey, taken[0].Header.Trace.PublicKey)
}

// TestWhatSentryHasNoPlaceFor: it is counted, and no error.
func TestWhatSentryHasNoPlaceFor(t *testing.T) {
	e := startBoth(t, withoutQueue)
	require.NoError(t, e.profiles(someProfile("alloc_space", "bytes")))
	assert.Empty(t, e.sentry.Requests())
	assert.Equal(t, map[string]int64{"reason=sample_type_not_time": 3}, e.counts("otelcol_exporter_sentry_envelope_samples_discarded"))
}

func TestMetadataAgreesWithTheFactory(t *testing.T) {
	metadatatest.CheckFactory(t, "exporter", NewFactory())
}

// TestMetadataAgreesWithTheInstruments makes every counter count.
func TestMetadataAgreesWithTheInstruments(t *testing.T) {
	projects := func(cfg *Config) {
		withoutRetry(cfg)
		cfg.DSNs = []RouteConfig{{map[string]string{"service.name": "other"}, testDSN}}
	}
	e := startBoth(t, projects)
	require.NoError(t, e.profiles(someProfile("alloc_space", "bytes")))
	broken := someProfile("samples", "count")
	broken.Dictionary().LocationTable().At(1).AttributeIndices().Append(99)
	require.NoError(t, e.profiles(broken))
	require.NoError(t, e.traces(handledException()))
	empty := plog.NewLogs()
	empty.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	require.NoError(t, e.logs(empty))
	require.NoError(t, e.points(cumulative()))
	bad := someSpan()
	bad.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).SetTraceID(pcommon.TraceID{})
	require.NoError(t, e.traces(bad))
	e.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 429} })
	require.Error(t, e.profiles(someProfile("samples", "count")))
	require.Error(t, e.profiles(someProfile("samples", "count")))
	withStorage := newTestExporter(t, testConfig(e.sentry, projects), e.settings())
	withStorage.countUnreadable(errors.New("damaged"))
	metadatatest.CheckInstruments(t, e.metrics, scopeName)
}
