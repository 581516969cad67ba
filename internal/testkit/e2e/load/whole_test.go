// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

const (
	wholeTime = 4 * time.Second
	quiet     = 300 * time.Millisecond // without requests, all profiles have been exported
)

// wholeExporters are the settings of exporters. HTTP, GRPC and DSN stand for the address of the
// backend.
var wholeExporters = []struct{ name, id, settings string }{
	{"otlp_http, gzip", "otlp_http", "{endpoint: 'HTTP', compression: gzip}"},
	{"otlp_http, fast_gzip", "otlp_http", "{endpoint: 'HTTP', compression: none, middlewares: [{id: fast_gzip}]}"},
	{"otlp_http, zstd", "otlp_http", "{endpoint: 'HTTP', compression: zstd}"},
	{"otlp_grpc, gzip", "otlp_grpc", "{endpoint: 'GRPC', tls: {insecure: true}}"},
	{"sentry_envelope, gzip", "sentry_envelope", "{dsn: 'DSN', compression: gzip}"},
	{"sentry_envelope, zstd", "sentry_envelope", "{dsn: 'DSN', compression: zstd}"},
}

// measureWhole receives, links and exports profiles with each exporter, and profiles the collector
// meanwhile.
func measureWhole(t *testing.T, mixes []mix, page *loadPage) {
	b := startBackend(t)
	for _, m := range mixes {
		for _, e := range wholeExporters {
			pprof := harness.FreeAddress(t)
			c := b.collector(t, e.id, e.settings, pprof)
			sendSpans(t, c, m)
			result, parts := b.measure(t, sentrySender(c, m), m, pprof)
			page.wholePath(m, e.name, result, parts)
			linked := c.Scrape(t)
			assert.Positive(t, linked.Sum("otelcol_processor_profile_transform_linked_observations"), "chunks are linked")
			c.Stop(t)
		}
		c, address, pprof := b.forwarder(t)
		result, parts := b.measure(t, otlpSender(c, address, m), m, pprof)
		page.wholePath(m, "otlp_http, zstd; received as OTLP", result, parts)
		c.Stop(t)
		c = b.startFloor(t, m)
		result, parts = b.measure(t, sentrySender(c, m), m, c.Address)
		page.wholePath(m, "floor, zstd", result, parts)
		c.Stop(t)
	}
	t.Log("\n" + strings.Join(page.whole, "\n") + "\n" + partColumns() + strings.Join(page.parts, "\n"))
}

// measure sends profiles, and profiles the collector meanwhile.
func (b backend) measure(t *testing.T, s *sender, m mix, pprof string) (stretch, []float64) {
	s.send(t, m.rate, time.Second) // fills pools
	b.drain()
	samples := make(chan *profile.Profile, 1)
	go func() { samples <- cpuProfile(t, pprof, wholeTime) }()
	result := b.send(t, s, m, wholeTime)
	return result, partsOf(t, <-samples)
}

var gcSettings = []string{"100", "200", "400"}

const gcTurns = 3

// measureGC compares settings of the garbage collector, each with its own collector, in turns.
func measureGC(t *testing.T, mixes []mix, page *loadPage) {
	b := startBackend(t)
	t.Setenv("GOMEMLIMIT", "1024MiB") // as in packaging
	for _, m := range mixes {
		var senders []*sender
		for _, percent := range gcSettings {
			t.Setenv("GOGC", percent)
			c := b.collector(t, "otlp_http", "{endpoint: 'HTTP', compression: zstd}", harness.FreeAddress(t))
			sendSpans(t, c, m)
			senders = append(senders, sentrySender(c, m))
		}
		sums := make([]stretch, len(senders))
		for range gcTurns {
			for i, s := range senders {
				turn := b.send(t, s, m, 2*time.Second)
				sums[i].cpu += turn.cpu
				sums[i].accepted = append(sums[i].accepted, turn.accepted...)
				sums[i].waits = append(sums[i].waits, turn.waits...)
			}
		}
		for i, percent := range gcSettings {
			slices.Sort(sums[i].waits)
			page.gc = append(page.gc, fmt.Sprintf("| %s | %s | %v | %v | %d |", m.name, percent,
				perProfile(sums[i].cpu, len(sums[i].accepted)), sums[i].wait(0.99), senders[i].collector.PeakMemory()))
			senders[i].collector.Stop(t)
		}
	}
	t.Log("\n" + strings.Join(page.gc, "\n"))
}

func perProfile(cpu time.Duration, profiles int) time.Duration {
	return (cpu / time.Duration(profiles)).Round(10 * time.Microsecond)
}

// backend is the destination of all collectors.
type backend struct{ *discard.Backend }

func startBackend(t *testing.T) backend {
	b, err := discard.Start()
	require.NoError(t, err)
	t.Cleanup(b.Close)
	return backend{b}
}

// collector starts a collector that links profiles and exports them to the backend.
func (b backend) collector(t *testing.T, id, settings, pprof string) *harness.Collector {
	return harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
extensions:
  pprof: {endpoint: '%s'}
  fast_gzip:
receivers:
  sentry: {endpoint: ENDPOINT}
processors:
  profile_transform: {link: {wait: 0s}}
exporters:
  nop:
  %s: %s
service:
  extensions: [pprof, fast_gzip]
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [%s]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [nop]}
`, pprof, id, b.Settings(settings), id)})
}

// forwarder starts a collector that only forwards OTLP: what the same binary needs without this
// project's components.
func (b backend) forwarder(t *testing.T) (c *harness.Collector, address, pprof string) {
	address, pprof = harness.FreeAddress(t), harness.FreeAddress(t)
	return harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
extensions:
  pprof: {endpoint: '%s'}
receivers:
  sentry: {endpoint: ENDPOINT} # the harness waits for it
  otlp: {protocols: {http: {endpoint: '%s'}}}
exporters:
  otlp_http: %s
service:
  extensions: [pprof]
  pipelines:
    profiles: {receivers: [sentry, otlp], exporters: [otlp_http]}
`, pprof, address, b.Settings("{endpoint: 'HTTP', compression: zstd}"))}), address, pprof
}

// send sends profiles and waits until all are exported. The CPU time includes the export.
func (b backend) send(t *testing.T, s *sender, m mix, howLong time.Duration) stretch {
	before := s.collector.CPUTime(t)
	result := s.send(t, m.rate, howLong)
	b.drain()
	require.Less(t, result.unsent+result.refused, len(result.accepted), "the collector nearly keeps up, even on a busy machine")
	result.cpu = s.collector.CPUTime(t) - before
	return result
}

// drain waits until no more requests arrive.
func (b backend) drain() {
	for last := int64(-1); last != b.Requests(); time.Sleep(quiet) {
		last = b.Requests()
	}
}

// sendSpans sends the spans to which the chunks of a mix are linked.
func sendSpans(t *testing.T, c *harness.Collector, m mix) {
	for _, envelope := range m.spans {
		require.Equal(t, http.StatusOK, c.Send(t, harness.EnvelopeRequest(envelope)).Status)
	}
}

func cpuProfile(t *testing.T, address string, howLong time.Duration) *profile.Profile {
	resp, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", address, int(howLong.Seconds())))
	if !assert.NoError(t, err) {
		return nil
	}
	defer resp.Body.Close()
	p, err := profile.Parse(resp.Body)
	assert.NoError(t, err)
	return p
}

// cpuPart is a part of the path.
type cpuPart struct {
	name      string
	functions []string // texts in their names
}

var cpuParts = []cpuPart{
	{"GC", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge"}},
	{"inflate", []string{"flate.(*decompressor)", "gzip.(*Reader)", "zstd.(*Decoder)"}},
	{"decode", []string{"UnmarshalProto", "internal/format/sentry.ReadEnvelope", "internal/format/sentry/jsonscan.", "internal/format/sentry/profile.(*Decoder)", "internal/format/sentry/event."}},
	{"translate", []string{"internal/translate/fromsentry."}},
	{"link", []string{"internal/profiles/spanlink."}},
	{"encode", []string{"MarshalProto", "SizeProto", "internal/translate/tosentry.", "internal/profiles/transform."}},
	{"compress", []string{"flate.(*compressor)", "flate.(*Writer)", "gzip.(*Writer)", "zstd.(*Encoder)"}},
}

// partsOf returns the share of each part in percent, and last the share of the rest: HTTP, gRPC,
// the runtime. Each sample counts for the part of the innermost function that belongs to one, so
// memory counts for the part that allocates it.
func partsOf(t *testing.T, p *profile.Profile) (shares []float64) {
	require.NotNil(t, p)
	shares = make([]float64, len(cpuParts)+1)
	total := 0.0
	for _, sample := range p.Sample {
		cpu := float64(sample.Value[1])
		total += cpu
		shares[partOf(sample)] += 100 * cpu
	}
	for i := range shares {
		shares[i] /= total
	}
	return shares
}

func partOf(sample *profile.Sample) int {
	for _, location := range sample.Location {
		for _, line := range location.Line {
			for i, part := range cpuParts {
				if slices.ContainsFunc(part.functions, func(text string) bool { return strings.Contains(line.Function.Name, text) }) {
					return i
				}
			}
		}
	}
	return len(cpuParts)
}
