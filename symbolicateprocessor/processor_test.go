// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/collector/processor/xprocessor"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

const debugID = "3f2b7c1e-8d4a-4e65-9b0c-73656e747279"

// harness is a processor over a directory.
type harness struct {
	t         *testing.T
	directory string
	config    *Config
	metrics   *componenttest.Telemetry
	sink      *consumertest.ProfilesSink
	processor xprocessor.Profiles
}

func start(t *testing.T, settings string) *harness {
	h := &harness{t: t, directory: t.TempDir(), metrics: componenttest.NewTelemetry(), sink: new(consumertest.ProfilesSink)}
	cfg, err := load(t, "{store: {scan_interval: 100ms, directory: "+h.directory+", "+settings+"}}")
	require.NoError(t, err)
	if !strings.Contains(settings, "hold:") {
		cfg.Hold.Timeout = 0
	}
	h.config = cfg
	set := processortest.NewNopSettings(componentType)
	set.TelemetrySettings = h.metrics.NewTelemetrySettings()
	h.processor, err = createProfiles(t.Context(), set, cfg, h.sink)
	require.NoError(t, err)
	require.NoError(t, h.processor.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() {
		require.NoError(t, h.processor.Shutdown(context.Background()))
		require.NoError(t, h.metrics.Shutdown(context.Background()))
	})
	return h
}

// add copies the minified application into the directory, with a debug ID unless it is empty.
func (h *harness) add(path, id string) {
	const app = "internal/symbols/sourcemap/testdata/app/esbuild.js"
	target := filepath.Join(h.directory, path)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(target), 0o755))
	source, err := os.ReadFile(app + ".map")
	require.NoError(h.t, err)
	require.NoError(h.t, os.WriteFile(target+".map", source, 0o644))
	script, err := os.ReadFile(app)
	require.NoError(h.t, err)
	if id != "" {
		script = append(script, "\n//# debugId="+id+"\n"...)
	}
	require.NoError(h.t, os.WriteFile(target, script, 0o644))
}

// eventually sends profiles until their frame has a name.
func (h *harness) eventually(location, id, want string) {
	h.t.Helper()
	got := ""
	require.Eventually(h.t, func() bool {
		h.sink.Reset()
		require.NoError(h.t, h.processor.ConsumeProfiles(h.t.Context(), profileOf(location, id)))
		d := h.sink.AllProfiles()[0].Dictionary()
		got = d.StringTable().At(int(d.FunctionTable().At(1).NameStrindex()))
		return got == want
	}, 30*time.Second, 10*time.Millisecond, "want %s", want)
}

// profileOf is a message with a frame of the function l.
func profileOf(location, id string) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	profile := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	list := pcommon.NewValueSlice()
	if id != "" {
		image := list.Slice().AppendEmpty().SetEmptyMap()
		image.PutStr("type", "sourcemap")
		image.PutStr("code_file", location)
		image.PutStr("debug_id", id)
	}
	dictionary.SetAttributes(profile.AttributeIndices(), b.Attribute("sentry.debug_meta.images", dictionary.AnyValue(list), ""))
	sample := profile.Samples().AppendEmpty()
	sample.TimestampsUnixNano().Append(1)
	sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{
		Lines:      []dictionary.Line{{Function: b.Function(dictionary.Function{Name: b.String("l"), Filename: b.String(location)}), Line: 1, Column: 39}},
		Attributes: []dictionary.AttributeIndex{b.Attribute("profile.frame.type", dictionary.StringValue("v8js"), "")},
	})})))
	b.Finish()
	return p
}

const pageURL = "https://shop.example/assets/app.js?v=1"

// Files are found by debug ID wherever they are, and used as soon as they are open.
func TestDebugID(t *testing.T) {
	h := start(t, "")
	h.eventually(pageURL, debugID, "l")
	h.add("builds/7/renamed.js", debugID)
	h.eventually(pageURL, debugID, "discountOf")
	h.eventually(pageURL, strings.ReplaceAll(debugID, "3", "4"), "l")
}

func TestPath(t *testing.T) {
	h := start(t, "")
	h.add("assets/app.js", "")
	h.add("other/app.js", "")
	h.eventually(pageURL, "", "discountOf")
	h.eventually("/srv/assets/app.js", "", "discountOf")
}

// A new build replaces the files of the old one.
func TestReplacedFile(t *testing.T) {
	h := start(t, "")
	h.add("app.js", "")
	h.eventually(pageURL, "", "discountOf")
	require.NoError(t, os.Remove(filepath.Join(h.directory, "app.js")))
	h.eventually(pageURL, "", "l")
	assert.Eventually(t, func() bool { return h.sum("open_bytes") == 0 }, time.Minute, time.Millisecond)
}

func TestFind(t *testing.T) {
	h := start(t, "")
	h.add("app.js", "")
	h.add("assets/app.js", "")
	h.add("builds/7/id.js", debugID)
	h.add("root.js", strings.ReplaceAll(debugID, "7", "8"))
	h.add("shop@1/app.js", "")
	h.add("uploads/releases/web%2Fshop@2/assets/app.js", "")
	h.add("uploads/bundles/1/assets/app.js", "")
	files := h.processor.(*profilesProcessor).Shared
	require.Eventually(t, func() bool { c := files.catalog.Load(); return c != nil && len(c.byPath) == 6 && len(c.byID) == 2 }, 30*time.Second, time.Millisecond)
	find := func(id symbolicate.ScriptID) string {
		if b := files.catalog.Load().find(id); b != nil {
			return b.file.path
		}
		return ""
	}
	found := func(id, location string) string { return find(symbolicate.ScriptID{DebugID: id, URL: location}) }
	ofRelease := func(release, location string) string {
		return find(symbolicate.ScriptID{URL: location, Release: release})
	}
	other := strings.ReplaceAll(debugID, "3", "4")
	assert.Equal(t, "builds/7/id.js", found(debugID, ""))
	assert.Equal(t, "builds/7/id.js", found(strings.ReplaceAll(debugID, "-", ""), "x.js"))
	assert.Equal(t, "assets/app.js", found("", "https://shop.example/v1/assets/app.js#top"))
	assert.Equal(t, "assets/app.js", found("", `C:\web\assets\app.js`))
	assert.Equal(t, "app.js", found("", "app.js"))
	assert.Equal(t, "app.js", found(other, "app:///deep/app.js"), "the file has no debug ID")
	assert.Empty(t, found("", "https://shop.example/id.js"))
	assert.Empty(t, found(other, "https://shop.example/root.js"), "the file is of another build")
	assert.Equal(t, "root.js", found("", "https://shop.example/root.js"))
	assert.Equal(t, "shop@1/app.js", ofRelease("shop@1", "https://shop.example/assets/app.js"), "before the longer path of any release")
	assert.Equal(t, "uploads/releases/web%2Fshop@2/assets/app.js", ofRelease("web/shop@2", "https://shop.example/assets/app.js"))
	assert.Equal(t, "assets/app.js", ofRelease("shop@3", "https://shop.example/assets/app.js"))
	assert.Empty(t, found("", strings.Repeat("a/", 1000)))
	assert.Empty(t, found("", ""))
}

// Files beyond a limit are not opened, and links do not lead out of the directory.
func TestUnusableFiles(t *testing.T) {
	h := start(t, "max_file_bytes: 100")
	h.add("app.js", "")
	h.eventually(pageURL, "", "l")
	require.Eventually(t, func() bool {
		h.eventually(pageURL, "", "l")
		return h.sum("opened_files") > 0 && h.sum("open_bytes") == 0
	}, 30*time.Second, 10*time.Millisecond)

	outside := filepath.Join(t.TempDir(), "secret.js")
	require.NoError(t, os.WriteFile(outside, []byte("x\n//# debugId="+debugID), 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(h.directory, "link.js")))
	require.NoError(t, os.WriteFile(filepath.Join(h.directory, "link.js.map"), nil, 0o644))
	h.eventually(pageURL, debugID, "l")
}

// The least recently used file is closed.
func TestMemoryLimit(t *testing.T) {
	h := start(t, "max_open_bytes: 20000") // two files
	for _, name := range []string{"a", "b", "c", "d"} {
		h.add(name+"/app.js", "")
	}
	for _, name := range []string{"a", "b", "c", "d", "a"} {
		h.eventually("https://shop.example/"+name+"/app.js", "", "discountOf")
		assert.LessOrEqual(t, h.sum("open_bytes"), int64(20000))
	}
	assert.Equal(t, int64(5), h.sum("opened_files"))
}

func TestMissingDirectory(t *testing.T) {
	cfg, err := load(t, "store: {directory: "+filepath.Join(t.TempDir(), "none")+"}")
	require.NoError(t, err)
	p, err := createProfiles(t.Context(), processortest.NewNopSettings(componentType), cfg, new(consumertest.ProfilesSink))
	require.NoError(t, err)
	require.ErrorContains(t, p.Start(t.Context(), componenttest.NewNopHost()), "store::directory: ")
	require.NoError(t, p.Shutdown(t.Context()))
}

func TestMetadataAgreesWithTheFactory(t *testing.T) {
	metadatatest.CheckFactory(t, "processor", NewFactory())
}

// sum returns the total of a metric.
func (h *harness) sum(name string) (total int64) {
	metric, err := h.metrics.GetMetric("otelcol_processor_symbolicate_" + name)
	if err != nil {
		return 0
	}
	for _, point := range metric.Data.(metricdata.Sum[int64]).DataPoints {
		total += point.Value
	}
	return total
}

// Exceptions of logs and spans get names, too, from the files that profiles use.
func TestExceptions(t *testing.T) {
	h := start(t, "")
	h.add("assets/app.js", "")
	h.eventually(pageURL, "", "discountOf")
	const stack = "Error: x\n    at l (https://shop.example/assets/app.js:1:39)"
	set, cfg := processortest.NewNopSettings(componentType), h.config
	logs, traces := new(consumertest.LogsSink), new(consumertest.TracesSink)
	logsProcessor, err := NewFactory().CreateLogs(t.Context(), set, cfg, logs)
	require.NoError(t, err)
	tracesProcessor, err := NewFactory().CreateTraces(t.Context(), set, cfg, traces)
	require.NoError(t, err)

	l := plog.NewLogs()
	l.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Attributes().PutStr("exception.stacktrace", stack)
	require.NoError(t, logsProcessor.ConsumeLogs(t.Context(), l))
	got, _ := logs.AllLogs()[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().Get("exception.stacktrace")
	assert.Equal(t, "Error: x\n    at discountOf (basket.ts:8:17)", got.Str())

	s := ptrace.NewTraces()
	s.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().Events().AppendEmpty().Attributes().PutStr("exception.stacktrace", stack)
	require.NoError(t, tracesProcessor.ConsumeTraces(t.Context(), s))
	got, _ = traces.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events().At(0).Attributes().Get("exception.stacktrace")
	assert.Equal(t, "Error: x\n    at discountOf (basket.ts:8:17)", got.Str())
}

// The endpoint for uploads listens while the processor runs, and shares the directory. Every
// instrument measures.
func TestUploads(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	h := start(t, "}, hold: {timeout: 1m, max_bytes: 1}, uploads: {endpoint: '"+address+"', token: secret}, downloads: {allow_http: true, debuginfod_urls: ['"+server.URL+"']")
	upload := func(method, path, kind, body string) string {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer secret")
		request.Header.Set("Content-Type", kind)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		defer http.DefaultClient.CloseIdleConnections()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, 200, response.StatusCode, string(text))
		return string(text)
	}
	content := breakpad(breakpadID, "Uploaded")
	bytes := sha1.Sum([]byte(content))
	sum := hex.EncodeToString(bytes[:])
	upload("POST", "/api/0/organizations/o/chunk-upload/", "multipart/form-data; boundary=x",
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\""+sum+"\"\r\n\r\n"+content+"\r\n--x--\r\n")
	text := upload("POST", "/api/0/projects/o/p/files/difs/assemble/", "application/json", `{"`+sum+`":{"name":"shop.sym","chunks":["`+sum+`"]}}`)
	assert.Contains(t, text, `"state":"ok"`)
	assert.Equal(t, "Uploaded", functionAt(h.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.OK), 0x1000))
	assert.Equal(t, int64(1), h.sum("uploads"))
	h.add("app.js", "")
	h.eventually(pageURL, "", "discountOf")
	h.object(symbolicate.NativeID{BuildID: strings.ReplaceAll(breakpadID, "4", "5")}, symbols.MissingFile)
	require.Eventually(t, func() bool { return h.sum("downloads") == 1 }, 30*time.Second, time.Millisecond)
	metadatatest.CheckInstruments(t, h.metrics, scopeName)
}

// Uploaded scripts are found by debug ID only: those of several builds have equal paths.
func TestUploadedPaths(t *testing.T) {
	h := start(t, "")
	h.add("uploads/bundles/1/assets/app.js", debugID)
	h.eventually(pageURL, debugID, "discountOf")
	h.eventually("uploads/bundles/1/assets/app.js", "", "l")
}
