// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TestHostilePairs sends one long text with one long list, for all pairs in all kinds of payloads,
// through all components in one collector. The output, time and memory are bounded by the input: a
// text that occurs once in the input does not occur once per list element in the output.
//
// `make attacks` sets ATTACKS=full. By default, sizes are small, and only some of the pairs are
// sent.
func TestHostilePairs(t *testing.T) {
	varies(t, "[pairs](#long-strings-in-long-lists) of a long string and a long list")
	size := smallPairs
	if os.Getenv("ATTACKS") == "full" {
		size = fullPairs
	}
	for _, s := range shapes(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			newPairs(t, s, size).run()
		})
	}
}

// pairSize has the sizes of text and list, and the bounds for the result.
type pairSize struct {
	text         int // bytes
	elements     int
	list         int // maximum total bytes of the elements
	page         int // bytes of a text that the viewer shows
	pageElements int
	memory       int // MiB, maximum at the peak
	every        int // one pair in this number is sent
	asks         int // the viewer is queried after one text in this number
}

// With small sizes, only some of the pairs are sent, but each text is sent with all lists, which
// detects the same failures:
//   - 20 copies of a text of 100 kB are 2 MB, where a destination may get 0.8 MB more than without
//     the text.
//   - Sentry may get 32 times a request of OTLP and 4 MiB, for 234 kB 12 MB. Without that bound and
//     clips it gets 22 to 222 MB of profiles. Transactions that repeat a resource stay below it
//     (8.5 MB); TestHostileReproduced has larger ones.
var (
	smallPairs = pairSize{text: 8_000, elements: 30, list: 1 << 16, page: 100_000, pageElements: 20, memory: 512, every: 23, asks: 8}
	fullPairs  = pairSize{text: 50_000, elements: 400, list: 1 << 20, page: 500_000, pageElements: 100, memory: attackLimit, every: 1, asks: 1}
)

// The bounds that the documentation states.
const (
	// maxMultiple is the maximum number of bytes that one destination receives per byte of a
	// request, and maxConstant the additional bytes per request.
	maxMultiple = 16
	maxConstant = 128 << 10
	// sentryMultiple and sentryConstant are the bounds for Sentry and an OTLP request, as
	// documented for the exporter: Sentry's format repeats data in each frame, chunk or transaction
	// that OTLP contains once.
	sentryMultiple = attr.ExportGrowth
	sentryConstant = attr.ExportOverhead
	// maxOfText is the maximum number of additional bytes that one destination receives per byte of
	// a longer text, and maxForText a constant.
	maxOfText  = 8
	maxForText = 16 << 10
	// maxAnswer is the maximum size of a response of the viewer, except downloads.
	maxAnswer = longestResponse
	// cpuPerByte and cpuConstant bound the CPU time for a request.
	cpuPerByte  = 10 * time.Microsecond
	cpuConstant = time.Second
)

// pairs is the run for one shape.
type pairs struct {
	t    *testing.T
	size pairSize
	shape
	*everything

	longs       []long
	lists       map[string][]place
	met         int // pairs, including those that are not sent
	count, sent int
	statuses    map[int]int
	multiple    float64 // the maximum bytes to one destination per byte of a request
	worst       string  // the pair and the destination of this maximum
	peak        int
	cpu         time.Duration
	broken      map[string][]string // failures, with the lists that cause them
}

func newPairs(t *testing.T, s shape, size pairSize) *pairs {
	return &pairs{t: t, size: size, shape: s, everything: startEverything(t), longs: longs(s.seed, s.isOTLP()), lists: lists(s.seed, s.isOTLP()),
		statuses: map[int]int{}, broken: map[string][]string{}}
}

func (p *pairs) run() {
	valid := p.send(p.request(p.seed))
	require.Less(p.t, valid.status, 300, "the payload is accepted as it is")
	for _, name := range slices.Sorted(maps.Keys(p.lists)) {
		p.list(name)
	}
	p.together(func(form longForm) bool { return form != longObject })
	p.together(func(form longForm) bool { return form == longObject })
	p.checkServing(p.t)
	p.t.Logf("pairs of %s: %d; %d bytes; %.1f out; worst %s; %d of %d MiB; %.2f µs; answers %v", p.name,
		p.count, p.sent, p.multiple, p.worst, p.peak, p.size.memory, float64(p.cpu.Microseconds())/float64(p.sent), p.statuses)
	for _, what := range slices.Sorted(maps.Keys(p.broken)) {
		const enough = 5
		all := p.broken[what]
		p.t.Errorf("%s, by %d pairs:\n%s", what, len(all), strings.Join(all[:min(len(all), enough)], "\n"))
	}
}

// list sends a long list, alone and with each long text. Of the lists of a kind, it chooses the one
// nearest to the text.
func (p *pairs) list(name string) {
	near := map[string][]long{}
	for _, l := range p.longs {
		at := nearest(p.lists[name], l.at).String()
		if l.form == longObject {
			at += string(longObject) // has the place of the attribute's text
		}
		near[at] = append(near[at], l)
	}
	for _, group := range slices.Sorted(maps.Keys(near)) {
		all := p.some(near[group])
		if len(all) == 0 {
			continue
		}
		at := nearest(p.lists[name], all[0].at)
		tree := changed(p.seed, at, func(node any) any { return p.many(node, at, p.size.elements) })
		template := templateOf(p.shape, tree, all)
		base := p.send(template.with("", ""))
		p.check("nothing", name, base)
		for _, l := range all {
			p.pair(l, name, template, base)
		}
	}
}

// some returns the texts that are sent with a list.
func (p *pairs) some(all []long) (some []long) {
	for _, l := range all {
		if p.met++; p.met%p.size.every == 0 {
			some = append(some, l)
		}
	}
	return some
}

// pair sends a long list with a long text.
func (p *pairs) pair(l long, list string, template template, base spent) {
	text := longText(scrubbed, p.size.text, template.originals[l.mark], l.at)
	got := p.send(template.with(l.mark, text))
	p.count++
	p.check(l.String(), list, got)
	p.checkText(l, list, len(text), got, base)
}

// checkText compares the effect of a text with the bound. base is the same request without the
// text.
func (p *pairs) checkText(l long, list string, size int, got, base spent) {
	for sink, bytes := range got.sinks {
		if p.repeats(sink) {
			continue
		}
		if more := bytes - base.sinks[sink]; more > maxOfText*size+maxForText {
			p.breaks("a text goes to "+sink+" once per element", "%s of %d bytes × %s: %d bytes in, %d more out", l, size, list, got.sent, more)
		}
	}
}

// together sends all lists with each long text, and queries the viewer.
func (p *pairs) together(form func(longForm) bool) {
	tree := p.seed
	places := slices.Collect(maps.Values(p.lists))
	slices.SortFunc(places, func(a, b []place) int { // outermost first: new elements are copies of the original ones
		return cmp.Or(len(a[0])-len(b[0]), strings.Compare(a[0].String(), b[0].String()))
	})
	for _, at := range places {
		at := at[0]
		tree = changed(tree, at, func(node any) any { return p.many(node, at, p.size.pageElements) })
	}
	all := slices.DeleteFunc(slices.Clone(p.longs), func(l long) bool { return !form(l.form) })
	template := templateOf(p.shape, tree, all)
	base := p.send(template.with("", ""))
	for i, l := range all {
		text := longText(escaped, p.size.page, template.originals[l.mark], l.at)
		got := p.send(template.with(l.mark, text))
		p.check(l.String(), "all lists", got)
		p.checkText(l, "all lists", len(text), got, base)
		if !p.pages || i%p.size.asks != 0 {
			continue
		}
		for question, bytes := range p.ask(p.t) {
			limit := maxAnswer
			if strings.Contains(question, "download") {
				limit = maxConstant + maxMultiple*got.sent
			}
			if bytes > limit {
				p.breaks("the page answers "+question, "%s: %d bytes in, %d out", l, got.sent, bytes)
			}
		}
	}
}

func (p *pairs) many(node any, at place, elements int) any {
	bytes := p.size.list
	if at.inHeaders() {
		bytes = 20_000
	}
	return many(node, elements, bytes)
}

// check compares the cost of a request with the bounds.
func (p *pairs) check(text, list string, got spent) {
	p.sent += got.sent
	p.statuses[got.status]++
	p.cpu += got.cpu
	for sink, bytes := range got.sinks {
		if multiple := float64(bytes) / float64(got.sent); multiple > p.multiple {
			p.multiple, p.worst = multiple, fmt.Sprintf("%s × %s to %s", text, list, sink)
		}
		if bytes > p.most(sink, got.sent) {
			p.breaks("too much goes to "+sink, "%s × %s: %d bytes in, %d out", text, list, got.sent, bytes)
		}
	}
	if got.cpu > cpuConstant+time.Duration(got.sent)*cpuPerByte {
		p.breaks("too much time", "%s × %s: %d bytes in, %s", text, list, got.sent, got.cpu)
	}
	if got.peak > p.size.memory && p.peak <= p.size.memory { // reported once: memory stays in use afterwards
		p.breaks("too much memory", "%s × %s: %d bytes in, %d MiB", text, list, got.sent, got.peak)
	}
	p.peak = max(p.peak, got.peak)
	if got.died {
		p.breaks("the collector ends", "%s × %s: %d bytes in", text, list, got.sent)
		p.restart(p.t)
	}
}

// most returns the maximum number of bytes that a destination may receive for a request.
func (p *pairs) most(sink string, sent int) int {
	if p.repeats(sink) {
		return sentryConstant + sentryMultiple*sent
	}
	return maxConstant + maxMultiple*sent
}

// repeats reports whether a destination receives data once per element that the request contains
// once, within the total bound.
func (p *pairs) repeats(sink string) bool {
	return p.isOTLP() && strings.HasPrefix(sink, "/api/")
}

func (p *pairs) breaks(what, format string, args ...any) {
	p.broken[what] = append(p.broken[what], fmt.Sprintf(format, args...))
}

// spent is the cost of a request.
type spent struct {
	sent, status int
	sinks        map[string]int // bytes to each destination, including the client and the log
	cpu          time.Duration
	peak         int // MiB
	died         bool
}

func (p *pairs) send(r harness.Request) (got spent) {
	if p.receiver == "measure" {
		r.Headers = append(slices.Clone(r.Headers), [2]string{"msr-req-id", uuid.NewString()})
	}
	p.meter.reset()
	logged, busy := p.c.Log.Len(), p.c.CPUTime(p.t)
	p.c.ResetPeakMemory()
	answer, err := harness.SendTo(p.address[p.receiver], r)
	got = spent{sent: len(r.Target) + len(r.Body), status: answer.Status, sinks: p.meter.reset(), peak: p.c.PeakMemory()}
	for _, h := range r.Headers {
		got.sent += len(h[1])
	}
	got.sinks["the client"] = len(answer.Body)
	got.sinks["the log"] = p.c.Log.Len() - logged
	if err != nil {
		if got.died = p.c.ExitsWithin(time.Second); !got.died {
			p.breaks("no answer: "+err.Error(), "%d bytes", got.sent)
		}
	}
	if !got.died {
		got.cpu = p.c.CPUTime(p.t) - busy
	}
	return got
}

// everything is a collector with all components and its destinations.
type everything struct {
	c       *harness.Collector
	meter   *meter
	address map[string]string // of the receivers
	page    string
}

func startEverything(t *testing.T) *everything {
	e := &everything{meter: newMeter(t)}
	e.restart(t)
	return e
}

func (e *everything) restart(t *testing.T) {
	folder, otlp, measure := t.TempDir(), harness.FreeAddress(t), harness.FreeAddress(t)
	e.page = harness.FreeAddress(t)
	e.c = harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Config: fmt.Sprintf(everyComponent, otlp, measure, folder, e.meter.server.URL, e.page,
		strings.Replace(e.meter.server.URL, "://", "://"+harness.TestKey+"@", 1))})
	e.address = map[string]string{"sentry": e.c.Address, "otlp-dsn": e.c.Address, "otlp": otlp, "measure": measure}
}

// everyComponent is a configuration without delays: when a request is answered, all of its output
// has been sent.
const everyComponent = `
receivers:
  sentry: {endpoint: ENDPOINT, include_pii: true}
  otlp: {protocols: {http: {endpoint: %[1]s}}}
  measure:
    endpoint: %[2]s
    apps: [{api_key: e2e-key, environment: test}]
    attachments: {directory: "%[3]s/attachments", token_secret: e2e-secret}
    builds: {enabled: true, directory: "%[3]s/builds"}
processors:
  profile_transform: {link: {wait: 0s}}
  profile_transform/otel: {link: {preset: otel, wait: 0s}}
  profile_transform/pyroscope: {link: {enabled: false}, transforms: [{preset: pyroscope}]}
  profile_transform/all:
    link: {enabled: false}
    transforms:
      - scrub: {preset: home, rules: [{pattern: '[a-z]+@b\.example', replacement: someone}]}
      - frames: {action: collapse, match: [{module: '^(django|gunicorn)\.'}, {file: '/node_modules/'}, {function: '^<.*[ax]>$'}]}
      - threads: {drop: ['^gc.*worker$']}
      - drop_idle: {}
      - active_thread_only: {}
      - drop_attributes: {samples: [batch], frames: [sentry.frame.package], resources: [host.id]}
      - resource_to_samples: {attributes: [service.name, service.version, host.name, process.command_args, k8s.pod.labels, sentry.release]}
      - split: {max_samples: 1000, max_bytes: 4000000, max_duration: 10s}
exporters:
  otlp_http/plain: {endpoint: %[4]s/plain, compression: none, sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}
  otlp_http/pyroscope: {endpoint: %[4]s/pyroscope, compression: none, sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}
  otlp_http/all: {endpoint: %[4]s/all, compression: none, sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}
  profile_viewer: {endpoint: %[5]s, max_bytes: 33554432}
  sentry_envelope: {dsn: %[6]s/42, compression: none, sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}
  sentry_envelope/spans: {dsn: %[6]s/43, spans_as: spans, compression: none, sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}
service:
  pipelines:
    profiles: {receivers: [sentry, otlp], processors: [profile_transform, profile_transform/otel], exporters: [otlp_http/plain, profile_viewer, sentry_envelope]}
    profiles/pyroscope: {receivers: [sentry, otlp], processors: [profile_transform/pyroscope], exporters: [otlp_http/pyroscope]}
    profiles/all: {receivers: [sentry, otlp], processors: [profile_transform/all], exporters: [otlp_http/all]}
    traces: {receivers: [sentry, otlp, measure], processors: [profile_transform, profile_transform/otel], exporters: [otlp_http/plain, profile_viewer, sentry_envelope, sentry_envelope/spans]}
    logs: {receivers: [sentry, otlp, measure], exporters: [otlp_http/plain, profile_viewer]}
    metrics: {receivers: [sentry, otlp, measure], exporters: [otlp_http/plain]}
`

// checkServing checks that a valid profile reaches every destination and the viewer.
func (e *everything) checkServing(t *testing.T) {
	t.Helper()
	require.True(t, e.c.Running(), "the collector lives")
	name := "after_the_attack_" + harness.NewID()
	e.meter.expect(name)
	now := float64(time.Now().Unix())
	got := e.c.Send(t, harness.Chunk{Frames: `{"function":"` + name + `","in_app":true}`, Samples: fmt.Sprintf(
		`{"timestamp":%f,"thread_id":"1","stack_id":0},{"timestamp":%f,"thread_id":"1","stack_id":0}`, now, now+0.01)}.Request())
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	assert.ElementsMatch(t, []string{"/plain" + harness.ProfilesPath, "/pyroscope" + harness.ProfilesPath, "/all" + harness.ProfilesPath, "/api/42/envelope/"}, e.meter.saw(),
		"where a valid profile is delivered")
	assert.Contains(t, e.get(t, "flame?profile="+latestProfile(t, e.page)), name, "the page shows a valid profile")
}

// ask returns the size of each response of the viewer for the latest profile, the trace of the
// test, and the logs.
func (e *everything) ask(t *testing.T) map[string]int {
	t.Helper()
	overview := e.get(t, "overview")
	answers, latest := map[string]int{"overview": len(overview)}, "1"
	var list struct{ Profiles []struct{ ID string } }
	if assert.NoError(t, json.Unmarshal([]byte(overview), &list)) && len(list.Profiles) > 0 {
		latest = list.Profiles[0].ID
	}
	for _, question := range pageQuestions {
		if strings.Contains(question, "%s") {
			question = fmt.Sprintf(question, latest)
		}
		name, _, _ := strings.Cut(question, "?")
		answers[strings.TrimSuffix(name, "/"+latest)] = len(e.get(t, question))
	}
	return answers
}

func (e *everything) get(t *testing.T, question string) string {
	t.Helper()
	response, err := http.Get("http://" + e.page + "/api/" + question)
	if !assert.NoError(t, err, question) {
		return ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	assert.NoError(t, err, question)
	return string(body)
}

// meter is the destination of all exporters, for Sentry and OTLP. It counts bytes.
type meter struct {
	server *httptest.Server

	mu    sync.Mutex
	bytes map[string]int // by path
	name  string
	seen  []string // paths of requests that contained the name
}

func newMeter(t testing.TB) *meter {
	m := &meter{bytes: map[string]int{}}
	m.server = httptest.NewServer(m)
	t.Cleanup(m.server.Close)
	return m
}

func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.bytes[r.URL.Path] += len(body)
	if m.name != "" && strings.Contains(string(body), m.name) {
		m.seen = append(m.seen, r.URL.Path)
	}
	m.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/api/") {
		_, _ = io.WriteString(w, "{}")
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // an empty message
}

// reset returns the counts and sets them to zero.
func (m *meter) reset() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	bytes := m.bytes
	m.bytes = map[string]int{}
	return bytes
}

func (m *meter) expect(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.name, m.seen = name, nil
}

func (m *meter) saw() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.name = ""
	return slices.Compact(slices.Sorted(slices.Values(m.seen)))
}
