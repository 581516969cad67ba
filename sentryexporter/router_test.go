// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// routed has a default project and those of the services alpha and beta.
type routed struct {
	exporters
	alpha, beta *fakesentry.Server
}

func startRouted(t *testing.T, edit func(*Config)) routed {
	r := routed{alpha: fakesentry.StartInMemory(t), beta: fakesentry.StartInMemory(t)}
	r.exporters = startBoth(t, func(cfg *Config) {
		cfg.DSNs = []RouteConfig{
			{Match: map[string]string{"service.name": "alpha"}, DSN: configopaque.String(r.alpha.DSN())},
			{Match: map[string]string{"service.name": "beta*"}, DSN: configopaque.String(r.beta.DSN())},
			{Match: map[string]string{"service.name": "*"}, DSN: cfg.DSN},
		}
		if edit != nil {
			edit(cfg)
		}
	})
	return r
}

// services are those of the messages of this file. The last one has no project of its own.
var services = []string{"alpha", "beta-eu", "alpha", "gamma"}

func ofServices(add func() pcommon.Resource) {
	for _, name := range services {
		add().Attributes().PutStr("service.name", name)
	}
}

func routedLogs() plog.Logs {
	logs := plog.NewLogs()
	ofServices(func() pcommon.Resource {
		resource := logs.ResourceLogs().AppendEmpty()
		record := failedLog(1).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		record.CopyTo(resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty())
		return resource.Resource()
	})
	return logs
}

func routedTraces() ptrace.Traces {
	traces := ptrace.NewTraces()
	id := byte(0)
	ofServices(func() pcommon.Resource {
		id++
		resource := traces.ResourceSpans().AppendEmpty()
		failedSpan(id).ResourceSpans().At(0).CopyTo(resource)
		return resource.Resource()
	})
	return traces
}

func routedMetrics() pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	ofServices(func() pcommon.Resource {
		resource := metrics.ResourceMetrics().AppendEmpty()
		gauge := resource.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		gauge.SetName("queue.length")
		gauge.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(2.5)
		return resource.Resource()
	})
	return metrics
}

// routedProfiles has one dictionary for all services; their frames are named after them.
func routedProfiles() pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	for i, name := range services {
		resource := p.ResourceProfiles().AppendEmpty()
		resource.Resource().Attributes().PutStr("service.name", name)
		profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
		dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
		profile.SetProfileID(pprofile.ProfileID{byte(i + 1)})
		profile.SetTime(1_700_000_000_000_000_000)
		profile.SetDurationNano(uint64(time.Second))
		sample := profile.Samples().AppendEmpty()
		sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{
			Lines: []dictionary.Line{{Function: b.Function(dictionary.Function{Name: b.String("render_" + name)})}},
		})})))
		sample.TimestampsUnixNano().Append(1_700_000_000_100_000_000, 1_700_000_000_200_000_000)
	}
	b.Finish()
	return p
}

// received returns the types of the items that a server has accepted, and fails if one of them is
// about another service.
func received(t assert.TestingT, server *fakesentry.Server, service string) (types []string) {
	for _, envelope := range server.Taken() {
		item := envelope.Items[0]
		types = append(types, string(item.Header.Type))
		assert.Empty(t, fakesentry.Verdict(envelope))
		assert.Contains(t, string(item.Payload), service)
		for _, other := range services {
			if !strings.HasPrefix(other, service) {
				assert.NotContains(t, string(item.Payload), other)
			}
		}
	}
	slices.Sort(types)
	return types
}

// TestProjects: every resource of every signal arrives at its project, and nowhere else.
func TestProjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startRouted(t, nil)
		require.NoError(t, e.profiles(routedProfiles()))
		require.NoError(t, e.traces(routedTraces()))
		require.NoError(t, e.logs(routedLogs()))
		require.NoError(t, e.points(routedMetrics()))
		synctest.Wait()
		// One failure per project: the log record and the span of the first trace are the same
		// failure.
		assert.Equal(t, []string{"event", "event", "log", "profile_chunk", "profile_chunk", "trace_metric", "transaction", "transaction"}, received(t, e.alpha, "alpha"))
		for server, service := range map[*fakesentry.Server]string{e.beta: "beta", e.sentry: "gamma"} {
			assert.Equal(t, []string{"event", "event", "log", "profile_chunk", "trace_metric", "transaction"}, received(t, server, service))
		}
		sent := e.counts("otelcol_exporter_sentry_envelope_items")
		for server, chunks := range map[*fakesentry.Server]int64{e.alpha: 2, e.beta: 1, e.sentry: 1} {
			dsn, err := sentry.ParseDSN(server.DSN())
			require.NoError(t, err)
			assert.Equal(t, chunks, sent["outcome=sent project="+dsn.Host+"/42 type=profile_chunk"], "%v", sent)
		}
	})
}

// TestProjectsDoNotDelayEachOther: one project is down and another one is limited for an hour; a
// third gets everything.
func TestProjectsDoNotDelayEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startRouted(t, nil)
		e.alpha.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 503} })
		e.beta.Answer(func(*fakesentry.Request) fakesentry.Answer {
			return fakesentry.Answer{Status: 429, Header: map[string]string{"X-Sentry-Rate-Limits": "3600::organization"}}
		})
		const messages = 100 // more than the consumers of a queue
		for range messages {
			require.NoError(t, e.points(routedMetrics()))
		}
		time.Sleep(100 * time.Millisecond)
		assert.Len(t, e.sentry.Taken(), messages)
		assert.Empty(t, e.alpha.Taken())
		assert.Empty(t, e.beta.Taken())
		assert.LessOrEqual(t, len(e.beta.Requests()), 10, "a limit of its own")
	})
}

// TestFullQueueOfOneProject: if another project has accepted its part, which the sender would
// repeat, the refused part is dropped and counted without an error.
func TestFullQueueOfOneProject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startRouted(t, func(cfg *Config) {
			cfg.ReportLosses = true
			queue := *cfg.Queue.Get()
			queue.Sizer, queue.QueueSize = exporterhelper.RequestSizerTypeRequests, 50 // 40 consumers have one each
			*cfg.Queue.Get() = queue
		})
		e.alpha.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 503} })
		dsn, err := sentry.ParseDSN(e.alpha.DSN())
		require.NoError(t, err)
		dropped := "outcome=refused project=" + dsn.Host + "/42 reason=queue_full type=trace_metric"
		for accepted := 1; e.counts("otelcol_exporter_sentry_envelope_items")[dropped] == 0; accepted++ {
			require.Less(t, accepted, 1000)
			require.NoError(t, e.points(routedMetrics()))
			synctest.Wait()
			require.Len(t, e.sentry.Taken(), accepted)
		}
		assert.Equal(t, int64(1), e.counts("otelcol_exporter_sentry_envelope_items")[dropped])

		onlyAlpha := pmetric.NewMetrics()
		routedMetrics().ResourceMetrics().At(0).CopyTo(onlyAlpha.ResourceMetrics().AppendEmpty())
		err = e.points(onlyAlpha)
		require.ErrorContains(t, err, "sending queue is full")
		assert.False(t, consumererror.IsPermanent(err), "nothing was accepted: the sender repeats it")
		assert.Equal(t, int64(1), e.counts("otelcol_exporter_sentry_envelope_items")[dropped])

		e.alpha.Answer(nil)
		time.Sleep(reportInterval)
		require.Equal(t, int64(1), e.counts("otelcol_exporter_sentry_envelope_items")["outcome=sent project="+dsn.Host+"/42 type=client_report"])
		report := slices.IndexFunc(e.alpha.Taken(), func(taken *sentry.Envelope) bool { return taken.Items[0].Header.Type == sentry.ItemClientReport })
		require.GreaterOrEqual(t, report, 0)
		assert.Contains(t, string(e.alpha.Taken()[report].Items[0].Payload), `{"reason":"queue_overflow","category":"trace_metric","quantity":2}`)
	})
}

// TestFullQueues: all requests that were not queued are counted, those of each queue.
func TestFullQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startRouted(t, func(cfg *Config) {
			queue := *cfg.Queue.Get()
			queue.Sizer, queue.QueueSize = exporterhelper.RequestSizerTypeRequests, 50
			*cfg.Queue.Get() = queue
			cfg.Errors.MaxPerMinute = 0
		})
		e.alpha.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 503} })
		const messages = 45 // with two transactions and two events each for alpha, and too few for the other queues
		for i := range messages {
			traces := routedTraces()
			for j, resource := range traces.ResourceSpans().All() {
				resource.ScopeSpans().At(0).Spans().At(0).SetTraceID(pcommon.TraceID{byte(i + 1), byte(j + 1)})
			}
			_ = e.traces(traces)
		}
		counts := e.counts("otelcol_exporter_sentry_envelope_items")
		dsn, err := sentry.ParseDSN(e.alpha.DSN())
		require.NoError(t, err)
		refused := func(kind string) int64 {
			return counts["outcome=refused project="+dsn.Host+"/42 reason=queue_full type="+kind]
		}
		assert.Equal(t, int64(2*messages-50), refused("transaction"), "%v", counts)
		assert.Equal(t, int64(2*messages-50), refused("event"), "%v", counts)
	})
}

// TestRoutes: the first entry that matches applies; an entry matches if all its attributes do.
func TestRoutes(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = testDSN
	dsn := func(project int) configopaque.String {
		return configopaque.String(fmt.Sprintf("https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.example/%d", project))
	}
	cfg.DSNs = []RouteConfig{
		{map[string]string{"service.name": "cart", "deployment.environment.name": "production"}, dsn(1)},
		{map[string]string{"service.name": "cart"}, dsn(2)},
		{map[string]string{"sentry.project_id": "7"}, dsn(3)},
		{map[string]string{"service.name": "pay-*"}, dsn(2)}, // an earlier project again
		{map[string]string{"service.name": "a.c"}, dsn(42)},  // that of the default
	}
	require.NoError(t, cfg.Validate())
	h := &harness{t: t, metrics: componenttest.NewTelemetry()}
	r, err := newRouter(cfg, h.settings(), func(*sentryExporter) error { return nil })
	require.NoError(t, err)
	require.NoError(t, h.metrics.Shutdown(t.Context()))
	assert.Len(t, r.projects, 4)
	for text, want := range map[string]string{
		`{"service.name":"cart","deployment.environment.name":"production"}`: "1",
		`{"service.name":"cart","deployment.environment.name":"staging"}`:    "2",
		`{"service.name":"cart"}`:                      "2",
		`{"service.name":"carts"}`:                     "42",
		`{"service.name":"pay-eu\nx"}`:                 "2",
		`{"service.name":"pay"}`:                       "42",
		`{"sentry.project_id":7}`:                      "3",
		`{"service.name":"a.c"}`:                       "42",
		`{"service.name":"abc"}`:                       "42",
		`{}`:                                           "42",
		`{"deployment.environment.name":"production"}`: "42",
	} {
		var raw map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &raw))
		attributes := pcommon.NewMap()
		require.NoError(t, attributes.FromRaw(raw))
		assert.Equal(t, want, r.projects[r.projectOf(attributes)].dsn.ProjectID, text)
	}
}

// TestQueuesOfProjects: each queue has a storage of its own, which does not depend on the order of
// the projects.
func TestQueuesOfProjects(t *testing.T) {
	h := &harness{t: t, sentry: fakesentry.StartInMemory(t), metrics: componenttest.NewTelemetry()}
	cfg := testConfig(h.sentry, func(cfg *Config) {
		cfg.DSNs = []RouteConfig{{map[string]string{"a": "b"}, testDSN}}
	})
	set := h.settings()
	set.ID = component.NewIDWithName(componentType, "prod")
	traces, err := createTraces(t.Context(), set, cfg)
	require.NoError(t, err)
	var names []string
	for _, e := range traces.(tracesExporter).projects {
		for _, q := range e.queues {
			names = append(names, q.queueSettings().ID.String())
		}
	}
	assert.Equal(t, []string{
		"sentry_envelope/prod", "sentry_envelope/prod.span", "sentry_envelope/prod.error",
		"sentry_envelope/prod.o1.ingest.sentry.example/42", "sentry_envelope/prod.o1.ingest.sentry.example/42.span",
		"sentry_envelope/prod.o1.ingest.sentry.example/42.error",
	}, names)
	require.NoError(t, h.metrics.Shutdown(t.Context()))
}

// TestRejectedKeys: the component is healthy when no project rejects its key.
func TestRejectedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, sentry: fakesentry.StartInMemory(t), metrics: componenttest.NewTelemetry()}
		other := fakesentry.StartInMemory(t)
		cfg := testConfig(h.sentry, func(cfg *Config) {
			cfg.DSNs = []RouteConfig{{map[string]string{"service.name": "alpha"}, configopaque.String(other.DSN())}}
		})
		metrics, err := createMetrics(t.Context(), h.settings(), cfg)
		require.NoError(t, err)
		require.NoError(t, metrics.Start(t.Context(), h.host()))
		reject := func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 403} }
		post := func(requests int) {
			require.NoError(t, metrics.ConsumeMetrics(t.Context(), routedMetrics()))
			synctest.Wait()
			require.Len(t, h.sentry.Requests(), requests)
			require.Len(t, other.Requests(), requests)
		}
		h.sentry.Answer(reject)
		other.Answer(reject)
		post(1)
		for range 2 {
			assert.ErrorContains(t, (<-h.events).Err(), "127.0.0.1:", "the project")
		}
		other.Answer(nil)
		post(2)
		require.Equal(t, int64(1), metrics.(metricsExporter).rejections.Load())
		assert.Empty(t, h.events)
		h.sentry.Answer(nil)
		post(3)
		assert.NoError(t, (<-h.events).Err())
		require.NoError(t, metrics.Shutdown(context.Background()))
		require.NoError(t, h.metrics.Shutdown(t.Context()))
	})
}
