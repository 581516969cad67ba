// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/goleak"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var nopHost = componenttest.NewNopHost()

func TestMetadata(t *testing.T) {
	t.Setenv("MEASURE_KEY", testKey)
	t.Setenv("MEASURE_TOKEN_SECRET", "secret")
	metadatatest.CheckFactory(t, "receiver", NewFactory())
	metadatatest.CheckREADME(t, "receivers", NewFactory())

	h := start(t, nopHost, nil)
	h.events(batchID, strings.Replace(goodBatch, `"name":"cart"`, `"name":7`, 1))
	h.events(batchID, goodBatch)
	h.shared.telemetry.scrubbed(t.Context(), pipeline.SignalLogs, "@ip:replace", 1)
	h.events("x", goodBatch)
	h.events(uuid.NewString(), `{"events":[`+badEvent+`]}`)
	h.shared.telemetry.fileDone(t.Context(), measure.FileScreenshot, outcomeStored, 1)
	h.shared.telemetry.connectionClosed(httpserver.ReasonMaxConnections)
	metadatatest.CheckInstruments(t, h.metrics, scopeName)
}

// TestAppDefaults: an app has the defaults of its config, and no key that does not exist.
func TestAppDefaults(t *testing.T) {
	read := func(app map[string]any) (*Config, error) {
		cfg := createDefaultConfig().(*Config)
		err := confmap.NewFromStringMap(map[string]any{"apps": []any{app}}).Unmarshal(cfg)
		return cfg, err
	}
	cfg, err := read(map[string]any{"api_key": "k", "config": map[string]any{"trace_sampling_rate": 20}})
	require.NoError(t, err)
	require.NoError(t, cfg.Validate())
	want := measure.DefaultSDKConfig()
	want.TraceSamplingRate = 20
	assert.Equal(t, want, cfg.Apps[0].SDK)
	_, err = read(map[string]any{"api_key": "k", "config": map[string]any{"trace_sample_rate": 20}})
	assert.ErrorContains(t, err, "trace_sample_rate")
}

func TestConfig(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	assert.Equal(t, map[string]int64{"screenshot": 2097152, "layout_snapshot": 2097152, "layout_snapshot_json": 2097152, "android_method_trace": 20971520,
		"perfetto_trace": 33554432, "heap_profile": 33554432, "heap_dump": 0}, cfg.Attachments.MaxSize, "as in the README")
	assert.ErrorContains(t, cfg.Validate(), "apps: ")
	cfg.AllowAnyKey = true
	assert.NoError(t, cfg.Validate())
	for want, edit := range map[string]func(*Config){
		"endpoint:":                            func(c *Config) { c.HTTP.NetAddr.Endpoint = "" },
		"max_request_body_size:":               func(c *Config) { c.HTTP.MaxRequestBodySize = 0 },
		"max_bytes_in_flight:":                 func(c *Config) { c.MaxBytesInFlight = 3 * defaultMaxRequestBodySize },
		"compression_algorithms: \"compress\"": func(c *Config) { c.HTTP.CompressionAlgorithms = []string{"", "compress"} },
		"compression_algorithms: empty":        func(c *Config) { c.HTTP.CompressionAlgorithms = nil },
		"validation:":                          func(c *Config) { c.Validation = "loose" },
		"public_endpoint:":                     func(c *Config) { c.PublicEndpoint = "rum.example.com" },
		"apps: 0: api_key: empty":              func(c *Config) { c.Apps = []AppConfig{{}} },
		"apps: 1: api_key: same":               func(c *Config) { c.Apps = []AppConfig{{APIKey: "a"}, {APIKey: "a"}} },
		"max_size: \"photo\"":                  func(c *Config) { c.Attachments.MaxSize["photo"] = 1 },
		"url_ttl":                              func(c *Config) { c.Attachments.URLTTL = 0 },
		"builds: directory":                    func(c *Config) { c.Builds.Enabled = true },
		"dedup: max_ids":                       func(c *Config) { c.Dedup.MaxIDs = -1 },
	} {
		cfg := createDefaultConfig().(*Config)
		cfg.AllowAnyKey = true
		edit(cfg)
		metadatatest.ErrorHas(t, confmap.Validate(cfg), want, want)
	}
	for old, renamed := range map[string]string{"size": "max_ids", "ttl": "max_age"} {
		conf := confmap.NewFromStringMap(map[string]any{"dedup": map[string]any{old: 1}})
		metadatatest.ErrorHas(t, conf.Unmarshal(createDefaultConfig()), "dedup::"+old+": dedup::"+renamed, old)
	}
}

// TestPublicEndpoints: only a URL with a host, and without what an address for uploads adds, will
// do.
func TestPublicEndpoints(t *testing.T) {
	for endpoint, good := range map[string]bool{
		"": true, "https://rum.example.com": true, "http://rum.example.com:8080/path": true, "HTTPS://rum.example.com": true,
		"http://": false, "/path": false, "ftp://rum.example.com": false, "https://rum.example.com?a": false, "https://rum.example.com#a": false, "http://%zz": false, "https://a b": false,
	} {
		cfg := createDefaultConfig().(*Config)
		cfg.AllowAnyKey, cfg.PublicEndpoint = true, endpoint
		if err := cfg.Validate(); good {
			assert.NoError(t, err, endpoint)
		} else {
			assert.ErrorContains(t, err, "public_endpoint: ", endpoint)
		}
	}
}

func TestWhoSends(t *testing.T) {
	h := start(t, nopHost, nil)
	for key, want := range map[string]int{"": 401, "nonsense": 401, testKey[:len(testKey)-1] + "f": 401, otherKey: 200,
		"msrsh_" + strings.Repeat("0", 64) + "_60e05bd1": 404} {
		got := h.send(http.MethodGet, "/config", nil, "Authorization", "Bearer "+key)
		assert.Equal(t, want, got.status, key)
	}
	for path, want := range map[string]int{"/ping": 200, "/nothing": 404, "/events": 405} {
		assert.Equal(t, want, h.send(http.MethodGet, path, nil).status, path)
	}
	assert.Contains(t, h.events("x", goodBatch).text, "msr-req-id")
	assert.Equal(t, 400, h.send(http.MethodPut, "/events", []byte(goodBatch), "Authorization", "Bearer "+testKey, "msr-req-id", batchID).status, "no content type")
}

// TestBatch: what goes in comes out or is counted, once.
func TestBatch(t *testing.T) {
	h := start(t, nopHost, nil)
	body := strings.Replace(goodBatch, `{"events":[`, `{"events":[`+badEvent+`,`, 1)
	got := h.events(batchID, body)
	require.Equal(t, 200, got.status, got.text)
	assert.Equal(t, `{"attachments":null}`, got.text, "no directory, no uploads")
	assert.Equal(t, []int{1, 1, 1}, []int{h.sink.records, h.sink.spans, h.sink.points})
	assert.Equal(t, map[string]int64{"outcome=accepted type=screen_view": 1, "outcome=accepted type=cpu_usage": 1, "outcome=accepted type=http": 1,
		"outcome=discarded reason=payload type=custom": 1}, h.counts("items"))

	require.Equal(t, 200, h.events(strings.ToUpper(batchID), body).status)
	assert.Equal(t, 1, h.sink.records, "once")
	assert.Equal(t, map[string]int64{"state=known": 1}, h.counts("batches_repeated"))

	// Another app may use the same id.
	other := h.send(http.MethodPut, "/events", []byte(body), "Authorization", "Bearer "+otherKey, "msr-req-id", batchID, "Content-Type", "application/json")
	require.Equal(t, 200, other.status)
	assert.Equal(t, 2, h.sink.records)

	assert.Equal(t, 400, h.events(uuid.NewString(), `{"events":[`+badEvent+`]}`).status, "nothing usable: the SDK may delete it")
	assert.Equal(t, 400, h.events(uuid.NewString(), `{}`).status)
	assert.Equal(t, 400, h.events(uuid.NewString(), goodBatch[:50]).status)
}

func TestStrict(t *testing.T) {
	h := start(t, nopHost, func(c *Config) { c.Validation = measure.Strict })
	got := h.events(batchID, strings.Replace(goodBatch, `{"events":[`, `{"events":[`+badEvent+`,`, 1))
	assert.Equal(t, 400, got.status)
	assert.Contains(t, got.text, `"details":"`, "the reason")
	assert.Zero(t, h.sink.records)
}

// TestRefusals: what a pipeline refuses comes again, and what another has taken does not come
// twice.
func TestRefusals(t *testing.T) {
	h := start(t, nopHost, nil)
	h.sink.metrics = errors.New("full")
	got := h.events(batchID, goodBatch)
	assert.Equal(t, 503, got.status)
	assert.Equal(t, "30", got.header.Get("Retry-After"))
	h.sink.metrics = nil
	h.clock.Skip(pipeline.BreakerPause)
	require.Equal(t, 200, h.events(batchID, goodBatch).status)
	assert.Equal(t, []int{1, 1, 1}, []int{h.sink.records, h.sink.spans, h.sink.points})

	h.sink.logs = consumererror.NewPermanent(errors.New("never"))
	assert.Equal(t, 200, h.events(uuid.NewString(), goodBatch).status, "or it would come again for ever")
	assert.EqualValues(t, 1, h.counts("items")["outcome=rejected reason=pipeline type=screen_view"])
}

// TestBusy: what a pipeline would refuse is neither translated nor, where none has room, read;
// nothing is lost by that.
func TestBusy(t *testing.T) {
	h := start(t, nopHost, nil)
	h.clock.Stop()
	h.sink.traces = errors.New("full")
	for range 2 { // by the pipeline, and before it
		got := h.events(batchID, goodBatch)
		assert.Equal(t, 503, got.status)
		assert.Equal(t, "30", got.header.Get("Retry-After"))
	}
	assert.Equal(t, []int{1, 0, 0}, []int{h.sink.records, h.sink.spans, h.sink.points}, "logs come first, once")
	h.sink.traces = nil
	assert.Equal(t, 503, h.events(batchID, goodBatch).status, "not tried")
	assert.EqualValues(t, 3, h.counts("items")["outcome=refused reason=backpressure type=http"])
	h.clock.Skip(pipeline.BreakerPause)
	assert.Equal(t, 200, h.events(batchID, goodBatch).status)
	assert.Equal(t, []int{1, 1, 1}, []int{h.sink.records, h.sink.spans, h.sink.points})

	h.sink.logs, h.sink.traces, h.sink.metrics = errors.New("full"), errors.New("full"), errors.Join(consumererror.NewPermanent(errors.New("never")), errors.New("full"))
	for _, item := range []string{screenView, request, cpuUsage} {
		assert.Equal(t, 503, h.events(uuid.NewString(), `{"events":[`+item+`]}`).status)
	}
	assert.Equal(t, 503, h.events(uuid.NewString(), "no batch").status, "it is not looked into")
	assert.EqualValues(t, 7, h.counts("requests_rejected")["reason=backpressure"])
	h.clock.Skip(pipeline.BreakerPause)
	assert.Equal(t, 400, h.events(uuid.NewString(), "no batch").status)
}

func TestInProgress(t *testing.T) {
	h := start(t, nopHost, nil)
	h.sink.hold = make(chan struct{})
	first := make(chan reply)
	go func() { first <- h.events(batchID, goodBatch) }()
	require.Eventually(t, func() bool { return h.shared.batches.Pending() == 1 }, 30*time.Second, time.Millisecond)
	got := h.events(batchID, goodBatch)
	assert.Equal(t, 503, got.status)
	assert.Equal(t, "60", got.header.Get("Retry-After"))
	close(h.sink.hold)
	assert.Equal(t, 200, (<-first).status)
	assert.Equal(t, 1, h.sink.records)
}

// TestUploads: the way of a screenshot, and what does not get through.
func TestUploads(t *testing.T) {
	folder := t.TempDir()
	h := start(t, nopHost, func(c *Config) {
		c.Attachments.Directory, c.Attachments.TokenSecret = folder, "secret"
		c.Attachments.MaxSize["screenshot"] = 100
	})
	upload := androidUploads(t, h.events(batchID, goodBatch).text)[0]
	assert.Less(t, len(upload.UploadURL), 200)
	for name, url := range map[string]string{"no token": h.url + "/attachments/" + shotID, "another's": strings.Replace(upload.UploadURL, shotID, batchID, 1),
		"changed": upload.UploadURL[:len(upload.UploadURL)-3] + "AAA", "another kind": strings.Replace(upload.UploadURL, "/attachments/", "/symbols/", 1),
		"traversal": h.url + "/attachments/..%2f..%2fetc"} {
		assert.Equal(t, 403, h.send(http.MethodPut, url, []byte("x")).status, name)
	}
	assert.Equal(t, 413, h.send(http.MethodPut, upload.UploadURL, bytes.Repeat([]byte("x"), 101)).status, "the SDK is to delete it")
	assert.Equal(t, 405, h.send(http.MethodGet, upload.UploadURL, nil).status, "nobody reads users' screenshots")

	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, _ = zip.Write([]byte("<svg/>"))
	_ = zip.Close()
	records := h.sink.records
	h.sink.logs = errors.New("full")
	assert.Equal(t, 503, h.send(http.MethodPut, upload.UploadURL, zipped.Bytes(), "Content-Encoding", "gzip").status)
	h.sink.logs = nil
	h.clock.Skip(pipeline.BreakerPause)
	for range 2 {
		require.Equal(t, 200, h.send(http.MethodPut, upload.UploadURL, zipped.Bytes(), "Content-Encoding", "gzip").status)
	}
	assert.Equal(t, records+1, h.sink.records, "described once")
	assert.Equal(t, zipped.Bytes(), stored(t, folder)[shotID])
	text := golden.DumpLogs(h.sink.lastLogs, golden.Receipt{})
	for _, want := range []string{`measure.attachment.name = "a.webp"`, `measure.attachment.content_encoding = "gzip"`, `service.version = "2.4.0"`, "measure.attachment.sha256"} {
		assert.Contains(t, text, want)
	}
	expired := ticket{id: uuid.MustParse(shotID), expires: time.Now().Add(-time.Second), fileType: measure.FileScreenshot}
	_, ok := readToken(h.shared.secret, expired.id, expired.token(h.shared.secret), time.Now())
	assert.False(t, ok, "expired")
}

// TestMultipart: SDKs before 2025-10 send files with their events.
func TestMultipart(t *testing.T) {
	folder := t.TempDir()
	h := start(t, nopHost, func(c *Config) { c.Attachments.Directory = folder })
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("event", screenView)
	part, _ := form.CreateFormFile("blob-"+shotID, "a.webp")
	_, _ = part.Write([]byte("RIFF"))
	_ = form.Close()
	send := func() reply {
		return h.send(http.MethodPut, "/events", body.Bytes(), "Authorization", "Bearer "+testKey, "msr-req-id", batchID, "Content-Type", form.FormDataContentType())
	}
	got := send()
	assert.Equal(t, 202, got.status)
	assert.Equal(t, `{"ok":"accepted"}`, got.text)
	assert.Equal(t, `{"ok":"accepted, known event request"}`, send().text)
	assert.Equal(t, "RIFF", string(stored(t, folder)[shotID]))
	assert.Equal(t, 2, h.sink.records, "the event, the file")
}

// TestSDKConfig polls as SDKs do: with the tag of the last answer, as it was.
func TestSDKConfig(t *testing.T) {
	h := start(t, nopHost, nil)
	first := h.send(http.MethodGet, "/config", nil, "Authorization", "Bearer "+testKey)
	require.Equal(t, 200, first.status)
	assert.Equal(t, "max-age=600", first.header.Get("Cache-Control"))
	var config map[string]any
	require.NoError(t, json.Unmarshal([]byte(first.text), &config))
	assert.Equal(t, "all_text", config["screenshot_mask_level"])
	tag := first.header["Etag"][0]
	for sent, want := range map[string]int{tag: 304, strings.Trim(tag, `"`): 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, "": 200} {
		got := h.send(http.MethodGet, "/config", nil, "Authorization", "Bearer "+testKey, "If-None-Match", sent)
		assert.Equal(t, want, got.status, sent)
		assert.Equal(t, want == 304, got.text == "", sent)
	}
}

func TestBuilds(t *testing.T) {
	folder := t.TempDir()
	body := []byte(`{"version_name":"../2.4.0","version_code":"240","build_type":"apk","build_size":1234,"mappings":[{"type":"proguard","filename":"mapping.txt"}]}`)
	off := start(t, nopHost, nil)
	assert.Equal(t, 404, off.send(http.MethodPut, "/builds", body, "Authorization", "Bearer "+testKey).status)

	h := start(t, nopHost, func(c *Config) {
		c.Builds.Enabled, c.Builds.Directory, c.Builds.MaxSize = true, folder, 100
		c.Builds.APIKeys = []configopaque.String{testKey}
	})
	got := h.send(http.MethodPut, "/builds", body, "Authorization", "Bearer "+testKey)
	require.Equal(t, 200, got.status, got.text)
	assert.Contains(t, got.text, `"upload_url":"http`, "compact, for grep")
	assert.Contains(t, got.text, `meta-mapping_id":"`)
	var answer measure.BuildResponse
	require.NoError(t, json.Unmarshal([]byte(got.text), &answer))
	assert.Equal(t, 413, h.send(http.MethodPut, answer.Mappings[0].UploadURL, make([]byte, 101)).status)
	for _, content := range []string{"a -> b:", "a -> c:"} {
		require.Equal(t, 200, h.send(http.MethodPut, answer.Mappings[0].UploadURL, []byte(content)).status)
		record := readRecord(t, stored(t, folder)[answer.Mappings[0].ID+".json"])
		assert.Equal(t, content, string(stored(t, folder)[record.SHA256]), "the last one counts")
	}
	assert.Contains(t, string(stored(t, folder)["apk.json"]), answer.Mappings[0].ID)
	assert.Equal(t, `{"ok":"build info updated"}`, h.send(http.MethodPut, "/builds", []byte(`{"version_name":"1","version_code":"2","build_type":"ipa","build_size":1}`), "Authorization", "Bearer "+testKey).text)
	ota := h.send(http.MethodPut, "/builds/ota", []byte(`{"patch_id":"`+shotID+`","patch_version":"1","mappings":[{"type":"jsbundle","filename":"main.jsbundle"}]}`), "Authorization", "Bearer "+testKey)
	assert.Contains(t, ota.text, `"patch_id":"`+shotID+`"`)
}

// stored reads all files below a directory, by their last name.
func stored(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			all[entry.Name()], err = os.ReadFile(path)
		}
		return err
	}))
	return all
}

// androidUploads decodes an answer as Android does: a missing member of an attachment loses all of
// them. iOS reads the whole as lists of attachments, and times only with a fraction.
func androidUploads(t *testing.T, text string) []measure.Upload {
	t.Helper()
	var plain map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &plain), "as iOS reads it: %s", text)
	for _, entry := range plain["attachments"] {
		for _, key := range []string{"id", "type", "filename", "upload_url", "expires_at"} {
			require.IsType(t, "", entry[key], key)
		}
		require.IsType(t, map[string]any{}, entry["headers"])
		require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, entry["expires_at"])
	}
	var answer measure.EventsResponse
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	return answer.Attachments
}

// TestCorpus sends the recorded requests as Android would, through refusals of the pipelines: a
// batch is sent again with its id until it is a success, its files are uploaded to where the answer
// says, and everything is found, once.
func TestCorpus(t *testing.T) {
	folder := t.TempDir()
	h := start(t, nopHost, func(c *Config) { c.Attachments.Directory = folder })
	items, uploadsWanted, refusals := 0, map[string][]byte{}, 0
	for i, request := range golden.MeasureCorpus(t) {
		var plain struct {
			Events []struct {
				Attachments []struct{ ID, Bytes string }
			}
			Spans []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(request.Body, &plain))
		items += len(plain.Events) + len(plain.Spans)
		if i%5 == 0 {
			h.sink.metrics = errors.New("full")
			if h.events(request.ID, string(request.Body)).status == 503 {
				refusals++
			}
			h.sink.metrics = nil
			h.clock.Skip(pipeline.BreakerPause)
		}
		got := h.events(request.ID, string(request.Body))
		require.Equal(t, 200, got.status, got.text)
		for _, upload := range androidUploads(t, got.text) {
			content := request.Blobs[upload.ID]
			if content == nil {
				continue // announced and never sent
			}
			headers := []string{}
			for name, value := range upload.Headers {
				headers = append(headers, name, value)
			}
			require.Equal(t, 200, h.send(http.MethodPut, upload.UploadURL, content, headers...).status)
			uploadsWanted[upload.ID] = content
		}
	}
	found := stored(t, folder)
	for id, content := range uploadsWanted {
		assert.True(t, bytes.Equal(content, found[id]), id)
	}
	taken, inline := int64(0), len(found)-len(uploadsWanted)
	for attributes, n := range h.counts("items") {
		switch {
		case strings.Contains(attributes, "outcome=accepted"):
			taken += n
		default:
			assert.Contains(t, attributes, "outcome=refused", "nothing is lost")
		}
	}
	assert.EqualValues(t, items, taken)
	assert.NotZero(t, refusals)
	assert.Equal(t, 1170, items)
	t.Logf("%d items; %d records (of which %d describe files), %d spans, %d points; %d files uploaded, %d inline; %d batches refused and sent again",
		items, h.sink.records, len(found), h.sink.spans, h.sink.points, len(uploadsWanted), inline, refusals)
}

func FuzzToken(f *testing.F) {
	f.Add("AAAA")
	f.Add(strings.Repeat("\n", 82))
	secret, id := []byte("s"), uuid.MustParse(shotID)
	f.Add(ticket{id: id, expires: time.Unix(2e9, 0), fileType: measure.FileScreenshot}.token(secret))
	f.Fuzz(func(t *testing.T, token string) {
		if ticket, ok := readToken(secret, id, token, time.Unix(1, 0)); ok && ticket.token(secret) != token {
			t.Fatal("two spellings of one token")
		}
	})
}
