// SPDX-License-Identifier: Apache-2.0

package frommeasure_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/frommeasure"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

var measureSource = frommeasure.Source{ReceivedNano: 1785578401e9}

func decodeMeasure(t testing.TB, body []byte) *measure.Batch {
	t.Helper()
	b, err := measure.DecodeJSON(body, nil)
	require.NoError(t, err)
	require.NoError(t, b.Validate(measure.Lenient))
	return b
}

// TestMeasureCases compares what comes of testdata/measure with its golden files.
func TestMeasureCases(t *testing.T) {
	for _, c := range golden.MeasureCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			b := decodeMeasure(t, []byte(c.Read(t, "in.json")))
			metrics, empty := frommeasure.ToMetrics(b.Events, measureSource)
			assert.Empty(t, empty)
			c.Compare(t, golden.Logs, golden.DumpLogs(frommeasure.ToLogs(b.Events, measureSource), golden.Receipt{}))
			c.Compare(t, golden.Traces, golden.DumpTraces(frommeasure.ToTraces(b.Spans, b.Events, measureSource), golden.Receipt{}))
			c.Compare(t, golden.Metrics, golden.DumpMetrics(metrics, golden.Receipt{}))
			c.Compare(t, "dropped.txt", losses("dropped", b.Lost)+losses("kept without a field", b.Flawed))
		})
	}
}

func losses(what string, all []measure.Loss) (text string) {
	for _, loss := range all {
		text += fmt.Sprintf("%s: %d %s, %s\n", what, loss.Count, loss.Label, loss.Reason)
	}
	return text
}

// TestMeasureOptions: what is only passed on when it is asked for.
func TestMeasureOptions(t *testing.T) {
	body := []byte(golden.MeasureCases(t)[0].Read(t, "in.json"))
	for _, c := range golden.MeasureCases(t) {
		if c.Name == "http" {
			body = []byte(c.Read(t, "in.json"))
		}
	}
	src := measureSource
	src.HTTPBodies, src.ClientAddress, src.ServiceName, src.Environment = true, "192.0.2.7", "shop-android", "prod"
	text := golden.DumpTraces(frommeasure.ToTraces(nil, decodeMeasure(t, body).Events, src), golden.Receipt{})
	for _, want := range []string{`http.response.body.content`, `192.0.2.7`, `"shop-android"`, `"prod"`, `measure.app_unique_id`} {
		assert.Contains(t, text, want)
	}
	for _, never := range []string{"secret", "Bearer x", "a=b", "192.0.2.1", "sig=abc"} {
		assert.NotContains(t, text, never)
	}
}

// TestAppExitSeverity: the prefix of Android's API and of the published document changes nothing.
func TestAppExitSeverity(t *testing.T) {
	for reason, want := range map[string]plog.SeverityNumber{
		"ANR": plog.SeverityNumberError, "REASON_ANR": plog.SeverityNumberError, "CRASH": plog.SeverityNumberError, "REASON_CRASH": plog.SeverityNumberError,
		"USER_REQUESTED": plog.SeverityNumberInfo, "REASON_USER_REQUESTED": plog.SeverityNumberInfo,
	} {
		event := measure.Event{Type: measure.TypeAppExit, AppExit: &measure.AppExit{Reason: reason}}
		logs := frommeasure.ToLogs([]measure.Event{event}, measureSource)
		assert.Equal(t, want, logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).SeverityNumber(), reason)
	}
}

// TestMeasureCPU: which points there are of a CPU usage, and at their bounds.
func TestMeasureCPU(t *testing.T) {
	number := func(n int64) measure.Int { return measure.Int{Value: n, Set: true} }
	android := measure.CPUUsage{NumCores: number(8), ClockSpeed: number(100), StartTime: number(500), Uptime: number(15_000), UserTime: number(250), SystemTime: number(50),
		PercentageUsage: measure.Float{Value: 12.5, Set: true}}
	for name, c := range map[string]struct {
		os   string
		edit func(*measure.CPUUsage)
		want string
	}{
		"all":              {"android", func(*measure.CPUUsage) {}, "utilization 0.125, uptime 10, user 2.5 @90, system 0.5 @90"},
		"no time yet":      {"android", func(u *measure.CPUUsage) { u.UserTime, u.SystemTime = number(0), number(0) }, "utilization 0.125, uptime 10, user 0 @90, system 0 @90"},
		"times unknown":    {"android", func(u *measure.CPUUsage) { u.UserTime, u.SystemTime = measure.Int{}, number(-1) }, "utilization 0.125, uptime 10"},
		"idle":             {"android", func(u *measure.CPUUsage) { u.PercentageUsage.Value, u.Uptime = 0, number(0) }, "utilization 0"},
		"share unknown":    {"android", func(u *measure.CPUUsage) { u.PercentageUsage.Value, u.Uptime = -1, number(0) }, ""},
		"share absent":     {"android", func(u *measure.CPUUsage) { u.PercentageUsage, u.Uptime = measure.Float{}, number(-1) }, ""},
		"just started":     {"android", func(u *measure.CPUUsage) { u.StartTime = number(1500) }, "utilization 0.125, uptime 0, user 2.5 @100, system 0.5 @100"},
		"not started":      {"android", func(u *measure.CPUUsage) { u.StartTime = number(1501) }, "utilization 0.125"},
		"up since 1970":    {"android", func(u *measure.CPUUsage) { u.StartTime, u.Uptime = number(0), number(100_000) }, "utilization 0.125"},
		"most ticks":       {"android", func(u *measure.CPUUsage) { u.ClockSpeed, u.StartTime = number(10_000), number(50_000) }, "utilization 0.125, uptime 10, user 0.025 @90, system 0.005 @90"},
		"Hz are no ticks":  {"android", func(u *measure.CPUUsage) { u.ClockSpeed = number(10_001) }, "utilization 0.125"},
		"iOS: of one core": {"ios", func(*measure.CPUUsage) {}, "utilization 0.015625"},
	} {
		usage := android
		c.edit(&usage)
		events := []measure.Event{{Type: measure.TypeCPUUsage, Timestamp: measure.Time{UnixNano: 100e9, Set: true}, Attribute: measure.Attributes{OSName: c.os}, CPUUsage: &usage}}
		metrics, empty := frommeasure.ToMetrics(events, measureSource)
		var got []string
		for _, r := range metrics.ResourceMetrics().All() {
			for _, m := range r.ScopeMetrics().At(0).Metrics().All() {
				if m.Type() == pmetric.MetricTypeGauge {
					p := m.Gauge().DataPoints().At(0)
					got = append(got, fmt.Sprint(strings.TrimPrefix(strings.TrimPrefix(m.Name(), "process."), "cpu."), " ", p.DoubleValue()))
					assert.EqualValues(t, 100e9, p.Timestamp())
					continue
				}
				assert.True(t, m.Sum().IsMonotonic())
				for _, p := range m.Sum().DataPoints().All() {
					mode, _ := p.Attributes().Get("cpu.mode")
					got = append(got, fmt.Sprint(mode.Str(), " ", p.DoubleValue(), " @", uint64(p.StartTimestamp())/1e9))
				}
			}
		}
		assert.Equal(t, c.want, strings.Join(got, ", "), name)
		assert.Equal(t, c.want == "", len(empty) == 1, name)
	}
}

// TestMeasureCorpus reads the recorded requests a second time, by a decoder that knows no types,
// and looks for everything in what came out: each event once, and each text of it, but for those
// that docs/mapping.md lists as dropped or reworded.
func TestMeasureCorpus(t *testing.T) {
	for _, request := range golden.MeasureCorpus(t) {
		b := decodeMeasure(t, request.Body)
		src := measureSource
		src.HTTPBodies = true
		logs := frommeasure.ToLogs(b.Events, src)
		traces := frommeasure.ToTraces(b.Spans, b.Events, src)
		metrics, empty := frommeasure.ToMetrics(b.Events, src)
		assert.Empty(t, empty, request.Name)

		var plain struct{ Events, Spans []map[string]any }
		require.NoError(t, json.Unmarshal(request.Body, &plain))
		measured := 0
		for _, e := range plain.Events {
			if kind := e["type"]; kind == "cpu_usage" || kind == "memory_usage" || kind == "memory_usage_absolute" {
				measured++
			}
		}
		assert.Equal(t, len(plain.Events)+len(plain.Spans), logs.LogRecordCount()+traces.SpanCount()+measured, request.Name)

		logText, err := (&plog.JSONMarshaler{}).MarshalLogs(logs)
		require.NoError(t, err)
		traceText, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
		require.NoError(t, err)
		metricText, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(metrics)
		require.NoError(t, err)
		out := string(logText) + string(traceText) + string(metricText)
		for _, e := range plain.Events {
			if kind := e["type"]; kind != "cpu_usage" && kind != "memory_usage" && kind != "memory_usage_absolute" {
				findTexts(t, request.Name, out, "", e)
			}
		}
		for _, s := range plain.Spans {
			findTexts(t, request.Name, out, "", s)
		}
	}
}

// reworded are keys whose texts come out as something else, or not at all.
var reworded = map[string]bool{
	"timestamp": true, "start_time": true, "end_time": true, "session_start_time": true, // times
	"os_name": true, "os_version": true, "device_locale": true, "device_cpu_arch": true, "network_type": true, "previous_network_type": true,
	"network_generation": true, "network_provider": true, // "unknown" is not passed on
	"type": true, "method": true, "pid": true, "platform": true, "bytes": true, "path": true, "parent_id": true,
	"user_defined_attributes": true, // text of an object
	"url":                     true, // redacted
	"x-client-ip":             true, // personal
	"set-cookie":              true,
}

func findTexts(t *testing.T, name, out, key string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for k, v := range value {
			findTexts(t, name, out, k, v)
		}
	case []any:
		for _, v := range value {
			findTexts(t, name, out, key, v)
		}
	case string:
		if reworded[key] || value == "" {
			return
		}
		var quoted strings.Builder
		encoder := json.NewEncoder(&quoted)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(value))
		if !strings.Contains(out, strings.TrimSpace(quoted.String())) {
			t.Errorf("%s: %s %.60q does not come out", name, key, value)
		}
	}
}

func FuzzMeasure(f *testing.F) {
	for _, c := range golden.MeasureCases(f) {
		f.Add([]byte(c.Read(f, "in.json")))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := measure.DecodeJSON(body, nil)
		if err != nil || b.Validate(measure.Lenient) != nil {
			return
		}
		logs, traces := frommeasure.ToLogs(b.Events, measureSource), frommeasure.ToTraces(b.Spans, b.Events, measureSource)
		metrics, _ := frommeasure.ToMetrics(b.Events, measureSource)
		measured := 0
		for i := range b.Events {
			if frommeasure.SignalOf(&b.Events[i]) == frommeasure.SignalMetrics {
				measured++
			}
		}
		if got, want := logs.LogRecordCount()+traces.SpanCount()+measured, len(b.Events)+len(b.Spans); got != want {
			t.Fatalf("%d of %d items come out", got, want)
		}
		for _, r := range traces.ResourceSpans().All() {
			for _, span := range r.ScopeSpans().At(0).Spans().All() {
				if span.EndTimestamp() < span.StartTimestamp() || span.TraceID().IsEmpty() || span.SpanID().IsEmpty() {
					t.Fatal("a span without ids, or that ends before it begins")
				}
			}
		}
		_, _ = (&pmetric.ProtoMarshaler{}).MarshalMetrics(metrics)
	})
}
