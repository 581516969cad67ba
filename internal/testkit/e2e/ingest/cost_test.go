// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

var (
	measure = flag.Bool("cost", false, "measure the cost of requests instead")
	rate    = flag.Float64("rate", 100, "requests per second")
)

const (
	turns    = 3
	maxBytes = 1 << 20 // a recorded request with more would be most of the cost of all
	settled  = 2500 * time.Millisecond
	mostLost = 0.02 // of what was sent, of any signal: Relay refuses some recordings
)

// does says what each system does for the cost.
const does = `Relay:     respond, then inflate, normalize, scrub, aggregate sessions every second, write to a broker without compression
collector: inflate, scrub, translate to OTLP, respond, send in batches as packages configure it, compressed with zstd
Both scrub by their default rules, and nothing is linked. The CPU time includes %s without requests after the last delivery.
`

// row is a line of the table: a kind of requests.
type row struct {
	name   string
	rounds int // with new IDs each time, because few recordings are of this kind
	has    func(types map[sentry.ItemType]bool, size int) bool

	requests []costly
	size     int // decoded
	sent     units
	relay    [turns]cost
	own      [turns]cost
}

// costly is a request that is sent to both systems.
type costly struct {
	body     []byte
	encoding string
}

// cost is what a system needed for the requests of a row.
type cost struct {
	request, megabyte float64 // CPU time in ms
	peak              float64 // MiB
	p50, p99          float64 // ms
}

// units are numbers of spans, log records and so on. They are the same for both systems.
type units map[string]float64

func costRows() []*row {
	profiles := func(types map[sentry.ItemType]bool) bool {
		return types[sentry.ItemProfile] || types[sentry.ItemProfileChunk] || types[sentry.ItemProfileChunkUI]
	}
	const small = 20_000
	// Those that need the least memory come first, because the process is the same for all.
	return []*row{
		{name: "check-ins", rounds: 6, has: func(types map[sentry.ItemType]bool, _ int) bool { return types[sentry.ItemCheckIn] }},
		{name: "sessions", rounds: 10, has: func(types map[sentry.ItemType]bool, _ int) bool {
			delete(types, sentry.ItemSession)
			delete(types, sentry.ItemSessions)
			return len(types) == 0
		}},
		{name: "small items only", rounds: 1, has: func(types map[sentry.ItemType]bool, size int) bool { return !profiles(types) && size <= small }},
		{name: "profiles only", rounds: 1, has: func(types map[sentry.ItemType]bool, _ int) bool { return profiles(types) }},
		{name: "recorded mix", rounds: 1, has: func(map[sentry.ItemType]bool, int) bool { return true }},
	}
}

// TestCost sends the same recorded requests, with new IDs and current times, to Relay and to the
// collector, one after the other in turns. Each is alone on a core; the sender, the broker and the
// sink have the others. What was sent must arrive there, else the system would look cheap.
func TestCost(t *testing.T) {
	if !*measure {
		t.Skip("only for make bench-relay")
	}
	if os.Getenv("RELAY") == "" {
		harness.Missing(t, "relay", "make bench-relay RELAY=/path/to/relay, with the feature `processing`")
	}
	pinned := pin(t)
	rows := costRows()
	for _, r := range rows {
		r.load(t)
	}
	warmUp := row{name: "warm-up", requests: rows[len(rows)-1].everyTenth()}
	t.Setenv("RELAY_UPSTREAM_URL", scrubbingUpstream(t)) // overrides the configuration file
	before := harness.LoadAverage()
	for turn := range turns {
		broker := startBroker(t, true)
		relay := startRelay(t, broker)
		warmUp.send(t, relay.Collector, broker)
		for _, r := range rows {
			r.relay[turn] = r.send(t, relay.Collector, broker)
		}
		relay.Stop(t)
		sink := startStore(t)
		collector := harness.Start(t, harness.Settings{Config: strings.ReplaceAll(costConfig, "SINK", sink.url)})
		warmUp.send(t, collector, sink)
		for _, r := range rows {
			r.own[turn] = r.send(t, collector, sink)
		}
		collector.Stop(t)
	}
	fmt.Printf("\n%s, %d cores, %s; %g requests/s, %d turns: median (lowest to highest); one-minute load average %s before, %s after\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), pinned, *rate, turns, before, harness.LoadAverage())
	fmt.Printf(does+"\n", settled)
	printRows(rows)
}

// costConfig sends as the configuration of the packages does, without their storage.
const costConfig = `
receivers:
  sentry: {endpoint: ENDPOINT}
exporters:
  otlp_http:
    endpoint: SINK
    compression: zstd
    keepalive: {max_idle_conns_per_host: 10}
    sending_queue: {sizer: bytes, queue_size: 1073741824, batch: {min_size: 65536}}
service:
  pipelines:
    profiles: {receivers: [sentry], exporters: [otlp_http]}
    traces: {receivers: [sentry], exporters: [otlp_http]}
    logs: {receivers: [sentry], exporters: [otlp_http]}
    metrics: {receivers: [sentry], exporters: [otlp_http]}
`

// pin makes both systems start on the first core, each with the number of threads for one, and
// moves this process to the others.
func pin(t *testing.T) string {
	taskset, err := exec.LookPath("taskset")
	if err != nil || runtime.NumCPU() < 2 {
		return "not pinned to a core"
	}
	others := fmt.Sprintf("1-%d", runtime.NumCPU()-1)
	output, err := exec.Command(taskset, "-a", "-c", "-p", others, strconv.Itoa(os.Getpid())).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("not pinned to a core (%s)", bytes.TrimSpace(output))
	}
	for variable, program := range map[string]string{"RELAY": os.Getenv("RELAY"), "OTELCOL_SENTRY_BIN": harness.Binary(t)} {
		wrapper := filepath.Join(t.TempDir(), "pinned")
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' -c 0 '%s' \"$@\"\n", taskset, program)
		require.NoError(t, os.WriteFile(wrapper, []byte(script), 0o700))
		t.Setenv(variable, wrapper)
	}
	return "each system pinned to one, the sender to the others"
}

// scrubbingUpstream returns the URL of an upstream whose projects have the default scrubbing.
func scrubbingUpstream(t *testing.T) string {
	plain, err := url.Parse(startUpstream(t))
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(plain)
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		const settings = `"datascrubbingSettings":{"scrubData":true,"scrubDefaults":true,"scrubIpAddresses":true},`
		body = bytes.ReplaceAll(body, []byte(`"allowedDomains"`), []byte(settings+`"allowedDomains"`))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return err
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// load makes the requests that `envelope send` makes of the recordings, compressed if those were.
func (r *row) load(t *testing.T) {
	files, encodings, folder := []string{}, []string{}, t.TempDir()
	for _, recording := range golden.Corpus(t) {
		body := recording.Decoded(t)
		envelope, err := sentry.ReadEnvelope(body)
		if err != nil || len(envelope.Items) == 0 || !strings.HasSuffix(recording.Path, "/envelope/") || len(body) > maxBytes {
			continue
		}
		types := map[sentry.ItemType]bool{}
		for _, item := range envelope.Items {
			types[item.Header.Type] = true
		}
		// Without a time of sending, `envelope send` cannot tell how old a session is.
		if types[sentry.ItemSession] || types[sentry.ItemSessions] {
			if !bytes.Contains(body, []byte(`"sent_at"`)) {
				continue
			}
		}
		if r.has(types, len(body)) {
			file := filepath.Join(folder, fmt.Sprintf("%04d.envelope", len(files)))
			require.NoError(t, os.WriteFile(file, body, 0o600))
			files, encodings = append(files, file), append(encodings, recording.Encoding)
		}
	}
	var bodies [][]byte
	recorder := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		bodies = append(bodies, body) // the requests come one at a time
	}))
	defer recorder.Close()
	dsn := fmt.Sprintf("%s/%d", strings.Replace(recorder.URL, "://", "://"+harness.TestKey+"@", 1), exported)
	arguments := append([]string{"send", "--dsn", dsn, "--rounds", strconv.Itoa(r.rounds)}, files...)
	output, err := exec.Command(filepath.Join(golden.Root(t), "dist", "envelope"), arguments...).CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Len(t, bodies, r.rounds*len(files))
	r.sent = units{}
	for i, body := range bodies {
		r.size += len(body)
		r.sent.addEnvelope(t, body)
		request := costly{body: body}
		if encodings[i%len(files)] != "identity" {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, _ = w.Write(body) // cannot fail
			_ = w.Close()
			request = costly{packed.Bytes(), "gzip"}
		}
		r.requests = append(r.requests, request)
	}
}

func (r *row) everyTenth() (some []costly) {
	for i := 0; i < len(r.requests); i += 10 {
		some = append(some, r.requests[i])
	}
	return some
}

// send sends the requests, each at its scheduled time, waits until nothing more is delivered, and
// checks that all is.
func (r *row) send(t *testing.T, server *harness.Collector, destination destination) cost {
	server.ResetPeakMemory()
	before := server.CPUTime(t)
	waits := sendAll(t, server, r.requests)
	for time.Sleep(settled); destination.quiet() < settled; {
		time.Sleep(100 * time.Millisecond)
	}
	cpu, peak := server.CPUTime(t)-before, server.PeakMemory()
	got := destination.units(t)
	for _, kind := range slices.Sorted(maps.Keys(r.sent)) {
		if lost := r.sent[kind] - got[kind]; lost > mostLost*r.sent[kind] {
			t.Errorf("%s to %T: %g of %g %s do not arrive", r.name, destination, lost, r.sent[kind], kind)
		}
	}
	t.Logf("%s to %T: sent %v, arrived %v", r.name, destination, r.sent, got)
	wait := func(quantile float64) float64 { return waits[int(quantile*float64(len(waits)-1))].Seconds() * 1e3 }
	milliseconds := cpu.Seconds() * 1e3
	return cost{milliseconds / float64(len(r.requests)), milliseconds / (float64(r.size) / 1e6), float64(peak), wait(0.5), wait(0.99)}
}

func sendAll(t *testing.T, server *harness.Collector, requests []costly) (waits []time.Duration) {
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	url := fmt.Sprintf("http://%s/api/%d/envelope/?sentry_key=%s", server.Address, exported, harness.TestKey)
	var mu sync.Mutex
	var sending sync.WaitGroup
	begin := time.Now()
	for i, r := range requests {
		due := begin.Add(time.Duration(float64(i) / *rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		sending.Go(func() {
			request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(r.body))
			if !assert.NoError(t, err) {
				return
			}
			request.Header.Set("Content-Type", sentry.ContentTypeEnvelope)
			if r.encoding != "" {
				request.Header.Set("Content-Encoding", r.encoding)
			}
			response, err := client.Do(request)
			wait := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, wait)
			if assert.NoError(t, err) {
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				assert.Equal(t, http.StatusOK, response.StatusCode)
			}
		})
	}
	sending.Wait()
	slices.Sort(waits)
	return waits
}

// destination is where a system sends to.
type destination interface {
	quiet() time.Duration
	units(*testing.T) units // that have arrived since the last call
}

const (
	aProfile = "profiles"
	aSpan    = "spans"        // transactions are spans, too
	aRecord  = "log records"  // and what becomes one: errors, check-ins, feedback
	aMetric  = "measurements" // of metrics: the collector combines equal series
	aSession = "sessions"     // that were started
)

func (u units) addEnvelope(t *testing.T, body []byte) {
	envelope, err := sentry.ReadEnvelope(body)
	require.NoError(t, err)
	for _, item := range envelope.Items {
		elements := 1.0
		if item.Header.ItemCount.Set {
			elements = float64(item.Header.ItemCount.Value)
		}
		switch item.Header.Type {
		case sentry.ItemProfile, sentry.ItemProfileChunk, sentry.ItemProfileChunkUI:
			u[aProfile]++
		case sentry.ItemTransaction:
			var transaction struct{ Spans []json.RawMessage }
			require.NoError(t, json.Unmarshal(item.Payload, &transaction))
			u[aSpan] += float64(1 + len(transaction.Spans))
		case sentry.ItemSpan:
			u[aSpan] += elements
		case sentry.ItemEvent, sentry.ItemFeedback, sentry.ItemCheckIn, sentry.ItemLog:
			u[aRecord] += elements
		case sentry.ItemTraceMetric:
			var metrics struct {
				Items []struct {
					Type  string
					Value float64
				}
			}
			require.NoError(t, json.Unmarshal(item.Payload, &metrics))
			for _, metric := range metrics.Items {
				u.addMetric(metric.Type, metric.Value)
			}
		case sentry.ItemSession, sentry.ItemSessions:
			var session struct {
				Init       bool
				Aggregates []map[string]any
			}
			require.NoError(t, json.Unmarshal(item.Payload, &session))
			if session.Init {
				u[aSession]++
			}
			for _, aggregate := range session.Aggregates {
				for _, count := range aggregate {
					u[aSession] += number(count) // the start is text
				}
			}
		}
	}
}

// addMetric adds a measurement. The values of a counter are added, those of a distribution counted;
// only the last value of a gauge remains.
func (u units) addMetric(kind string, value float64) {
	switch kind {
	case "counter":
		u[aMetric] += value
	case "distribution":
		u[aMetric]++
	}
}

func (b *broker) units(t *testing.T) units {
	const invalid = 3 // relay-server/src/services/outcome/mod.rs
	u := units{}
	for _, record := range b.take() {
		if record.topic == "profiles" {
			u[aProfile]++
			continue
		}
		item, err := readStored(record)
		require.NoError(t, err, record.topic)
		switch item.kind {
		case "span": // also those of transactions, which it stores besides
			u[aSpan]++
		case "event", "feedback", "check_in", "log":
			u[aRecord]++
		case "trace_metric":
			attributes, _ := item.body["attributes"].(map[string]any)
			kind, _ := attributes["sentry.metric_type"].(string)
			u.addMetric(kind, number(attributes["sentry.value"]))
		case "session metric":
			tags, _ := item.body["tags"].(map[string]any)
			if item.body["name"] == "c:sessions/session@none" && tags["session.status"] == "init" {
				u[aSession] += number(item.body["value"])
			}
		case "outcome":
			if number(item.body["outcome"]) == invalid {
				t.Logf("Relay refuses %v of category %v: %v", item.body["quantity"], item.body["category"], item.body["reason"])
			}
		}
	}
	return u
}

// store is an OTLP backend that accepts everything.
type store struct {
	url string

	mu       sync.Mutex
	messages []message
	last     time.Time // time of the last one
}

type message struct {
	path string
	body []byte // compressed
}

func startStore(t *testing.T) *store {
	s := &store{last: time.Now()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, "zstd", r.Header.Get("Content-Encoding"))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.messages, s.last = append(s.messages, message{r.URL.Path, body}), time.Now()
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *store) quiet() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.last)
}

func (s *store) units(t *testing.T) units {
	s.mu.Lock()
	messages := s.messages
	s.messages = nil
	s.mu.Unlock()
	inflater, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	require.NoError(t, err)
	defer inflater.Close()
	u := units{}
	for _, m := range messages {
		body, err := inflater.DecodeAll(m.body, nil)
		require.NoError(t, err)
		switch m.path {
		case harness.ProfilesPath:
			request := pprofileotlp.NewExportRequest()
			require.NoError(t, request.UnmarshalProto(body))
			for _, resource := range request.Profiles().ResourceProfiles().All() {
				for _, scope := range resource.ScopeProfiles().All() {
					u[aProfile] += float64(scope.Profiles().Len())
				}
			}
		case "/v1/traces":
			request := ptraceotlp.NewExportRequest()
			require.NoError(t, request.UnmarshalProto(body))
			u[aSpan] += float64(request.Traces().SpanCount())
		case "/v1/logs":
			request := plogotlp.NewExportRequest()
			require.NoError(t, request.UnmarshalProto(body))
			u[aRecord] += float64(request.Logs().LogRecordCount())
		case "/v1/metrics":
			request := pmetricotlp.NewExportRequest()
			require.NoError(t, request.UnmarshalProto(body))
			u.addMetrics(request.Metrics())
		}
	}
	return u
}

func (u units) addMetrics(all pmetric.Metrics) {
	for _, resource := range all.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				own := strings.HasPrefix(metric.Name(), "sentry.") // counted by the receiver
				switch {
				case metric.Type() == pmetric.MetricTypeSum && (!own || metric.Name() == "sentry.session.started"):
					kind := aMetric
					if own {
						kind = aSession
					}
					for _, point := range metric.Sum().DataPoints().All() {
						u[kind] += float64(point.IntValue()) + point.DoubleValue()
					}
				case own:
				case metric.Type() == pmetric.MetricTypeHistogram:
					for _, point := range metric.Histogram().DataPoints().All() {
						u[aMetric] += float64(point.Count())
					}
				case metric.Type() == pmetric.MetricTypeExponentialHistogram:
					for _, point := range metric.ExponentialHistogram().DataPoints().All() {
						u[aMetric] += float64(point.Count())
					}
				}
			}
		}
	}
}

// printRows prints what each system needed, and the ratios of each turn.
func printRows(rows []*row) {
	columns := []struct {
		name string
		of   func(cost) float64
	}{
		{"CPU ms÷request", func(c cost) float64 { return c.request }},
		{"CPU ms÷MB", func(c cost) float64 { return c.megabyte }},
		{"peak MiB", func(c cost) float64 { return c.peak }},
		{"p50 ms", func(c cost) float64 { return c.p50 }},
		{"p99 ms", func(c cost) float64 { return c.p99 }},
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprint(table, "requests\tnumber\tMB\tsystem")
	for _, c := range columns {
		fmt.Fprint(table, "\t", c.name)
	}
	fmt.Fprintln(table)
	for _, r := range rows {
		for _, system := range []struct {
			name string
			of   func(turn int, of func(cost) float64) float64
		}{
			{"Relay", func(turn int, of func(cost) float64) float64 { return of(r.relay[turn]) }},
			{"collector", func(turn int, of func(cost) float64) float64 { return of(r.own[turn]) }},
			{"collector÷Relay", func(turn int, of func(cost) float64) float64 { return of(r.own[turn]) / of(r.relay[turn]) }},
		} {
			fmt.Fprintf(table, "%s\t%d\t%.1f\t%s", r.name, len(r.requests), float64(r.size)/1e6, system.name)
			for _, c := range columns {
				values := make([]float64, turns)
				for turn := range values {
					values[turn] = system.of(turn, c.of)
				}
				slices.SortFunc(values, cmp.Compare)
				fmt.Fprintf(table, "\t%.3g (%.3g to %.3g)", values[turns/2], values[0], values[turns-1])
			}
			fmt.Fprintln(table)
		}
	}
}
