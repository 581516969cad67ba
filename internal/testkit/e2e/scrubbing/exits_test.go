// SPDX-License-Identifier: Apache-2.0

package scrubbing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/planted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// config has every exit of the distribution: OTLP, Sentry, the page, Pyroscope, the log at its most
// detailed level, queues in storage.
const config = `
extensions:
  file_storage/queues: {directory: DIRECTORY/queues, create_directory: true}
  file_storage/tee: {directory: DIRECTORY/tee, create_directory: true}
  sentry_tee: {upstream: TEE, storage: file_storage/tee}
receivers:
  sentry: {endpoint: ENDPOINT, include_pii: true, keep_original_payload: true, middlewares: [{id: sentry_tee}]}
  measure:
    endpoint: MEASURE
    apps: [{api_key: e2e-key, environment: test}]
    include_http_bodies: true
    attachments: {directory: DIRECTORY/attachments, token_secret: e2e-token}
  otlp: {protocols: {http: {endpoint: OTLP}}}
processors:
  profile_transform/pyroscope: {transforms: [preset: pyroscope]}
  profile_transform/scrub: {transforms: [scrub: {scrubbing: default}]}
exporters:
  otlp_http: {endpoint: BACKEND, compression: none, retry_on_failure: {initial_interval: 100ms, max_interval: 100ms}, sending_queue: {storage: file_storage/queues, queue_size: 100000}}
  otlp_http/pyroscope: {endpoint: BACKEND, compression: none}
  sentry_envelope: {dsn: DSN, sending_queue: {storage: file_storage/queues}}
  profile_viewer: {endpoint: VIEWER}
  debug: {verbosity: detailed, sampling_initial: 1000000}
service:
  telemetry: {logs: {level: debug, sampling: {enabled: false}}}
  extensions: [file_storage/queues, file_storage/tee, sentry_tee]
  pipelines:
    profiles: {receivers: [sentry], exporters: [otlp_http, sentry_envelope, profile_viewer, debug]}
    profiles/pyroscope: {receivers: [sentry], processors: [profile_transform/pyroscope], exporters: [otlp_http/pyroscope]}
    profiles/otlp: {receivers: [otlp], processors: [profile_transform/scrub], exporters: [otlp_http, sentry_envelope, profile_viewer, debug]}
    traces: {receivers: [sentry, measure], exporters: [otlp_http, sentry_envelope, profile_viewer, debug]}
    logs: {receivers: [sentry, measure], exporters: [otlp_http, profile_viewer, debug]}
    metrics: {receivers: [sentry, measure], exporters: [otlp_http, debug]}
`

// cases matches the cases in which secrets are planted: every item type, and SDKs of each kind.
var cases = regexp.MustCompile(`^(all-fields-.*|include-pii|described-items|user-feedback|android-v2-art|` +
	`(event|check-in|logs|spans|transaction|trace-metrics|session|sessions|client-report|feedback|security)-(python|node|browser)|sdk-(python|node|browser).*)$`)

// TestNoSecretLeaves: of the secrets that requests of every kind contain, none leaves the collector
// by any exit, but for the tee, which forwards to Sentry what SDKs send.
func TestNoSecretLeaves(t *testing.T) {
	e := start(t)
	e.backend.Respond(http.StatusServiceUnavailable) // so that the queues fill
	for _, c := range golden.Cases(t) {
		if cases.MatchString(c.Name) {
			for turn := range turns() {
				e.sentry(c, turn)
			}
		}
	}
	e.malformed()
	e.measure()
	e.otlpProfiles()
	e.waitQueued()
	e.search("queues in storage", files(t, e.directory, "tee"))
	e.backend.Respond(0)
	e.waitDelivered()

	e.search("queues in storage, after delivery", files(t, e.directory, "tee"))
	e.search("HTTP responses", e.responses)
	e.search("OTLP", e.messages())
	e.search("Sentry", e.envelopes())
	e.search("page", e.page())
	e.search("metrics", e.metrics())
	e.search("log", strings.Split(e.collector.Log.String(), "\n"))

	e.tee.mu.Lock()
	defer e.tee.mu.Unlock()
	forwarded := len(e.planter.Leaks(e.tee.bodies))
	t.Logf("%d secrets planted; 0 leave by %v; the tee forwards %d", len(e.planter.Secrets), e.searched, forwarded)
	assert.Greater(t, forwarded, 1000, "the tee forwards requests unchanged")
	assert.Greater(t, len(e.planter.Secrets), 167+300)
}

// turns returns how often each case is sent: once with members of every object, then with other
// classes of texts.
func turns() int {
	if !testsize.Full() {
		return 3
	}
	return 1 + planted.Classes/2
}

// exits are a running collector and everything that leaves it.
type exits struct {
	*testing.T
	collector *harness.Collector
	backend   *harness.Sink
	server    *fakesentry.Server
	tee       *sentryStandIn
	planter   *planted.Planter

	directory, viewer, measureAddress, otlp string

	responses []string
	searched  map[string]int // bytes
}

func start(t *testing.T) *exits {
	e := &exits{
		T: t, backend: harness.NewSink(t), server: fakesentry.Start(t), tee: newSentryStandIn(t), directory: t.TempDir(),
		planter: &planted.Planter{Secrets: map[string]string{}}, searched: map[string]int{},
		viewer: harness.FreeAddress(t), measureAddress: harness.FreeAddress(t), otlp: harness.FreeAddress(t),
	}
	e.collector = harness.Start(t, harness.Settings{Config: strings.NewReplacer(
		"DIRECTORY", e.directory, "TEE", e.tee.URL, "MEASURE", e.measureAddress, "OTLP", e.otlp, "BACKEND", e.backend.URL(), "DSN", e.server.DSN(),
		"VIEWER", e.viewer,
	).Replace(config)})
	return e
}

// sentryStandIn receives the requests that the tee forwards.
type sentryStandIn struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newSentryStandIn(t *testing.T) *sentryStandIn {
	s := &sentryStandIn{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		s.mu.Lock()
		s.bodies = append(s.bodies, body.String())
		s.mu.Unlock()
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(s.Close)
	return s
}

// sentry sends a case with secrets: members of every object in turn 0, then texts.
func (e *exits) sentry(c golden.Case, turn int) {
	e.planter.Member, e.planter.Turn = turn == 0, 2*turn
	request := harness.EnvelopeRequest(e.planter.Envelope(c.Envelope))
	request.Headers = append(request.Headers, [2]string{"User-Agent", e.planter.Fill("sdk/1.0 token=%s", "User-Agent")})
	e.responded(e.collector.Send(e, request))
}

// malformed sends requests that are refused, or whose items are.
func (e *exits) malformed() {
	fill := func(template string) string { return e.planter.Fill(template, "malformed request") }
	for _, request := range []harness.Request{
		harness.ItemRequest("event", fill(`{"message": password=%s`)),
		harness.ItemRequest("transaction", fill(`{"timestamp": "password=%s"}`)),
		harness.ItemRequest("profile_chunk", fill(`{"version":"2","platform":"token=%s","profile":"Bearer %s"}`)),
		harness.ItemRequest("profile", fill(`{"version":"1","event_id":"password=%s"}`)),
		harness.ItemRequest(fill("password=%s"), fill(`{"api_key":"%s"}`)),
		harness.ItemRequest("check_in", fill(`{"check_in_id":"password=%s","status":"token=%s"}`)),
		harness.ItemRequest("log", fill(`{"items":[{"timestamp":"password=%s"}]}`)),
		harness.EnvelopeRequest([]byte(fill("{\"event_id\":\"password=%s\"}\n{\"type\":\"event\",\"length\":99999}\n{}"))),
		harness.EnvelopeRequest([]byte(fill("password=%s\n"))),
		{Target: fill("/api/42/envelope/?sentry_key=%s&password=%s"), Body: []byte("{}\n")},
		{Target: fill("/api/42/nothing/?access_token=%s"), Body: []byte("{}\n")},
		{Target: "/api/42/envelope/", Headers: [][2]string{{"X-Sentry-Auth", fill("Sentry sentry_key=%s, sentry_client=password=%s")}}, Body: []byte("{}\n")},
		{Target: "/api/42/store/", Headers: [][2]string{{"X-Sentry-Auth", harness.TestAuth}}, Body: []byte(fill("password=%s"))},
	} {
		e.responded(e.collector.Send(e, request))
	}
	for _, body := range []string{fill(`{"events":[{"type":"password=%s"}]}`), fill(`{"events": password=%s`)} {
		status, text := harness.Put(e.T, "http://"+e.measureAddress+"/events", []byte(body), map[string]string{
			"Authorization": "Bearer e2e-key", "msr-req-id": fill("password=%s"), "Content-Type": "application/json",
		})
		e.responses = append(e.responses, fmt.Sprint(status, text))
	}
}

// measure sends batches of Measure's SDKs, and uploads to the addresses that the receiver returns.
func (e *exits) measure() {
	batches, err := filepath.Glob(filepath.Join(golden.Root(e), "testdata", "measure", "*", "in.json"))
	require.NoError(e, err)
	for n, path := range batches {
		for turn := range turns() {
			content, err := os.ReadFile(path)
			require.NoError(e, err)
			var batch map[string][]any
			require.NoError(e, json.Unmarshal(content, &batch))
			e.planter.Member, e.planter.Turn = turn == 0, 2*turn
			for kind, list := range batch {
				for _, element := range list {
					e.planter.Plant(element, kind)
					e.nameFiles(element)
				}
			}
			body, err := json.Marshal(batch)
			require.NoError(e, err)
			status, text := harness.Put(e.T, "http://"+e.measureAddress+"/events", body, map[string]string{
				"Authorization": "Bearer e2e-key", "Content-Type": "application/json", "msr-req-id": fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", n, turn),
			})
			// Some batches are invalid, and the response says why. By the protocol, it repeats the
			// names of files.
			e.responses = append(e.responses, fmt.Sprint(status, fileName.ReplaceAllString(text, "")))
		}
	}
}

var fileName = regexp.MustCompile(`"(filename|x-amz-meta-original_file_name)":"[^"]*"`)

// nameFiles plants secrets in the names of uploads.
func (e *exits) nameFiles(event any) {
	attachments, _ := event.(map[string]any)["attachments"].([]any)
	for _, attachment := range attachments {
		if file, is := attachment.(map[string]any); is {
			file["name"] = e.planter.Fill("token=%s&password=%s.webp", "name of an upload")
		}
	}
}

// otlpProfiles sends profiles of another producer to the OTLP receiver; its pipeline has the step
// scrub.
func (e *exits) otlpProfiles() {
	fill := func(template string) string { return e.planter.Fill(template, "OTLP profile") }
	texts := []string{"", "samples", "count", "main " + fill("https://u:%s@h/a.js?token=%s"), fill("postgres://u:%s@db/x"), "password", "note", "thread.name", "nested"}
	strings, _ := json.Marshal(texts)
	message := fill(`{"dictionary":{"stringTable":` + string(strings) + `,
		"mappingTable":[{}],"linkTable":[{}],
		"functionTable":[{},{"nameStrindex":3,"filenameStrindex":4}],
		"locationTable":[{},{"lines":[{"functionIndex":1,"line":1}]}],
		"stackTable":[{},{"locationIndices":[1]}],
		"attributeTable":[{},
			{"keyStrindex":5,"value":{"stringValue":"%s"}},
			{"keyStrindex":6,"value":{"stringValue":"card %card IBAN %iban SSN %ssn Bearer %s {\"api_key\":\"%s\"}"}},
			{"keyStrindex":7,"value":{"stringValue":"worker Bearer %s postgres://u:%s@db/x password=%s"}},
			{"keyStrindex":8,"value":{"kvlistValue":{"values":[{"key":"secret","value":{"stringValue":"%s"}}]}}}]},
		"resourceProfiles":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"other"}},{"key":"api_key","value":{"stringValue":"%s"}}]},
		"scopeProfiles":[{"scope":{"attributes":[{"key":"note","value":{"stringValue":"password=%s"}}]},
		"profiles":[{"profileId":"0102030405060708090a0b0c0d0e0f10","sampleType":{"typeStrindex":1,"unitStrindex":2},"timeUnixNano":"1700000000000000000","durationNano":"1000000000",
			"attributeIndices":[1,2],"originalPayloadFormat":"json","originalPayload":"aHVzaA==",
			"samples":[{"stackIndex":1,"values":["1"],"attributeIndices":[3,4],"timestampsUnixNano":["1700000000500000000"]}]}]}]}]}`)
	response, err := http.Post("http://"+e.otlp+harness.ProfilesPath, "application/json", bytes.NewReader([]byte(message)))
	require.NoError(e, err)
	defer response.Body.Close()
	require.Equal(e, http.StatusOK, response.StatusCode, message)
}

func (e *exits) responded(r harness.Response) {
	e.responses = append(e.responses, fmt.Sprint(r.Status, r.Header, r.Body))
}

// search fails the test for every secret in the lines.
func (e *exits) search(exit string, lines []string) {
	for _, line := range lines {
		e.searched[exit] += len(line)
	}
	shown := 0
	for leak, place := range e.planter.Leaks(lines) {
		if shown++; shown <= 20 {
			e.Errorf("a secret at %s leaves by %s: %.600s", place, exit, leak)
		}
	}
}

// files reads all files below a directory, and their names, except those below a subdirectory.
func files(t *testing.T, directory, except string) (all []string) {
	require.NoError(t, filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == except:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		all = append(all, path, string(content))
		return err
	}))
	return all
}

// waitQueued waits until the queue of the OTLP exporter has data of all signals in storage.
func (e *exits) waitQueued() {
	require.Eventually(e, func() bool {
		return e.collector.Scrape(e).Sum("otelcol_exporter_queue_size", "exporter=otlp_http") > 100
	}, time.Minute, 100*time.Millisecond)
}

// waitDelivered waits until all queues are empty.
func (e *exits) waitDelivered() {
	require.Eventually(e, func() bool { return e.collector.Scrape(e).Sum("otelcol_exporter_queue_size") == 0 }, 2*time.Minute, 100*time.Millisecond)
}

func (e *exits) messages() (all []string) {
	for path, messages := range e.backend.DrainAll() {
		for _, message := range messages {
			all = append(all, string(message))
		}
		e.Logf("%d messages to %s", len(messages), path)
	}
	require.NotEmpty(e, all)
	return all
}

// envelopes returns what the exporter sentry_envelope sent.
func (e *exits) envelopes() (all []string) {
	for _, request := range e.server.Requests() {
		all = append(all, fmt.Sprint(request.Header))
		for _, item := range request.Envelope.Items {
			all = append(all, fmt.Sprint(item.Header), string(item.Payload))
		}
	}
	require.NotEmpty(e, all)
	return all
}

func (e *exits) metrics() (all []string) {
	for _, point := range e.collector.Scrape(e) {
		all = append(all, fmt.Sprint(point.Name, point.Labels))
	}
	return all
}
