// SPDX-License-Identifier: Apache-2.0

// Command counted measures how the work of the viewer grows: storing, evicting, listing, sorting
// and searching.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter"
)

// viewer is a running exporter.
type viewer struct {
	profiles xexporter.Profiles
	traces   exporter.Traces
	logs     exporter.Logs
	metrics  exporter.Metrics
	address  string
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

var ctx = context.Background()

func start(maxBytes int64) *viewer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	v := &viewer{address: listener.Addr().String()}
	check(listener.Close())
	f := profileviewerexporter.NewFactory()
	cfg := f.CreateDefaultConfig().(*profileviewerexporter.Config)
	cfg.HTTP.NetAddr.Endpoint = v.address
	if maxBytes > 0 {
		cfg.MaxBytes = maxBytes
	}
	set := exportertest.NewNopSettings(f.Type())
	v.profiles, err = f.(xexporter.Factory).CreateProfiles(ctx, set, cfg)
	check(err)
	v.traces, err = f.CreateTraces(ctx, set, cfg)
	check(err)
	v.logs, err = f.CreateLogs(ctx, set, cfg)
	check(err)
	v.metrics, err = f.CreateMetrics(ctx, set, cfg)
	check(err)
	check(v.profiles.Start(ctx, componenttest.NewNopHost()))
	check(v.traces.Start(ctx, componenttest.NewNopHost()))
	check(v.logs.Start(ctx, componenttest.NewNopHost()))
	check(v.metrics.Start(ctx, componenttest.NewNopHost()))
	return v
}

func (v *viewer) stop() {
	check(v.profiles.Shutdown(ctx))
	check(v.traces.Shutdown(ctx))
	check(v.logs.Shutdown(ctx))
	check(v.metrics.Shutdown(ctx))
}

// get sends a request, and reads the response.
func (v *viewer) get(path string) {
	response, err := http.Get("http://" + v.address + "/api/" + path)
	check(err)
	body, err := io.ReadAll(response.Body)
	check(err)
	check(response.Body.Close())
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s: %d %s", path, response.StatusCode, body)
	}
}

// add stores the ith item of each signal.
func (v *viewer) add(i int) {
	resource := func(r pcommon.Resource) {
		r.Attributes().PutStr("service.name", fmt.Sprint("service ", i%50))
		r.Attributes().PutStr("service.version", fmt.Sprint(i%200))
	}
	var id pcommon.TraceID
	binary.BigEndian.PutUint64(id[:], uint64(i+1))
	at := pcommon.Timestamp(1e18 + 1e9*i)

	profiles := pprofile.NewProfiles()
	b := dictionary.NewBuilder(profiles.Dictionary())
	rp := profiles.ResourceProfiles().AppendEmpty()
	resource(rp.Resource())
	profile := rp.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	profile.SetTime(at)
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	sample := profile.Samples().AppendEmpty()
	sample.Values().Append(1)
	function := b.Function(dictionary.Function{Name: b.String(fmt.Sprint("function ", i))})
	sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: function}}})})))
	b.Finish()
	b.Release()
	check(v.profiles.ConsumeProfiles(ctx, profiles))

	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	resource(rs.Resource())
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	for j := range 2 {
		span := spans.AppendEmpty()
		span.SetTraceID(id)
		span.SetSpanID(pcommon.SpanID{1, byte(j)})
		span.SetName(fmt.Sprint("GET /", i))
		span.SetStartTimestamp(at)
		span.SetEndTimestamp(at + 1e6)
		event := span.Events().AppendEmpty()
		event.SetName("exception")
		event.Attributes().PutStr("exception.type", fmt.Sprint("Error", i%100))
		event.Attributes().PutStr("exception.message", fmt.Sprint("message ", i))
	}
	check(v.traces.ConsumeTraces(ctx, traces))

	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	resource(rl.Resource())
	record := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetTimestamp(at)
	record.SetTraceID(id)
	record.Body().SetStr(fmt.Sprint("log ", i))
	check(v.logs.ConsumeLogs(ctx, logs))

	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	resource(rm.Resource())
	metric := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	metric.SetName(fmt.Sprint("metric ", i%20))
	point := metric.SetEmptyGauge().DataPoints().AppendEmpty()
	point.SetTimestamp(at)
	point.SetIntValue(int64(i))
	check(v.metrics.ConsumeMetrics(ctx, metrics))
}

var paths = []string{
	"overview", "profiles", "profiles?sort=-duration", "profiles?q=service+7", "profiles?q=none", "profiles?service=service+7", "profiles?offset=400",
	"traces", "traces?sort=-duration", "traces?q=99", "traces?q=none", "services", "services?q=none", "logs", "logs?q=99", "logs?q=none",
	"errors", "errors?q=none", "metrics", "metrics?q=none", "service?service=service+7",
}

func main() {
	operations := map[string]counted.Operation{}
	var running *viewer
	begin := func(maxBytes int64) *viewer {
		if running != nil {
			running.stop()
		}
		running = start(maxBytes)
		return running
	}
	for _, path := range paths {
		operations["GET "+path] = func(n int) func() {
			v := begin(0)
			for i := range n {
				v.add(i)
			}
			return func() { v.get(path) }
		}
	}
	operations["add"] = func(n int) func() {
		v := begin(0)
		return func() {
			for i := range n {
				v.add(i)
			}
		}
	}
	operations["evict"] = func(n int) func() {
		v := begin(int64(n) * 1000)
		for i := range n {
			v.add(i)
		}
		return func() {
			for i := range n {
				v.add(n + i)
			}
		}
	}
	operations["clear"] = func(n int) func() {
		v := begin(0)
		for i := range n {
			v.add(i)
		}
		return func() {
			response, err := http.Post("http://"+v.address+"/api/clear", "application/json", nil)
			check(err)
			check(response.Body.Close())
		}
	}
	counted.Main(500, operations)
	running.stop()
}
