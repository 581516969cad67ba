// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

const (
	protobuf = sentry.ContentTypeProtobuf
	asJSON   = sentry.ContentTypeJSON
)

// otlpRequest is as OpenTelemetry's exporter sends it with the header of Python's OTLPIntegration.
func (h *harness) otlpRequest(path, contentType string, body []byte) *http.Request {
	req := h.request(http.MethodPost, path, bytes.NewReader(body))
	req.Header.Set("X-Sentry-Auth", "Sentry sentry_key="+testKey+", sentry_version=7, sentry_client=sentry.python/2.75.0")
	req.Header.Set("Content-Type", contentType)
	return req
}

// otlpReply is an answer whose body need not be JSON.
type otlpReply struct {
	status int
	header http.Header
	body   []byte
}

func (h *harness) doOTLP(req *http.Request) otlpReply {
	h.t.Helper()
	resp, err := h.client.Do(req)
	require.NoError(h.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	return otlpReply{resp.StatusCode, resp.Header, body}
}

// failure is the Status in an answer, which has the encoding of the request.
func (r otlpReply) failure(t *testing.T, contentType string) *status.Status {
	t.Helper()
	require.Equal(t, contentType, r.header.Get("Content-Type"))
	s := status.New(codes.OK, "").Proto()
	if contentType == protobuf {
		require.NoError(t, proto.Unmarshal(r.body, s))
	} else {
		require.NoError(t, protojson.Unmarshal(r.body, s), "%s", r.body)
	}
	return status.FromProto(s)
}

// otlpMessage is a message of a signal, in both encodings.
type otlpMessage struct {
	item        string
	proto, json []byte
}

// fill states what a client must not state, and what is scrubbed or personal.
func fill(resource, record pcommon.Map) {
	resource.PutStr(semconv.ServiceName, "shop")
	resource.PutStr(semconv.SentryProjectID, "7")
	resource.PutStr(semconv.UserEmail, "ann@example.com")
	record.PutStr("password", "hunter2")
	record.PutStr(semconv.UserEmail, "ann@example.com")
	record.PutStr("order", "17")
}

// otlpMessages returns a message of each signal by the paths of its endpoints.
func otlpMessages(t testing.TB) map[string]otlpMessage {
	traces, logs, metrics, profiles := ptrace.NewTraces(), plog.NewLogs(), pmetric.NewMetrics(), pprofile.NewProfiles()
	resourceSpans := traces.ResourceSpans().AppendEmpty()
	span := resourceSpans.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID([16]byte{1})
	span.SetSpanID([8]byte{1})
	fill(resourceSpans.Resource().Attributes(), span.Attributes())
	traces.ResourceSpans().AppendEmpty() // without spans

	resourceLogs := logs.ResourceLogs().AppendEmpty()
	fill(resourceLogs.Resource().Attributes(), resourceLogs.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Attributes())

	resourceMetrics := metrics.ResourceMetrics().AppendEmpty()
	sum := resourceMetrics.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty().SetEmptySum()
	fill(resourceMetrics.Resource().Attributes(), sum.DataPoints().AppendEmpty().Attributes())

	resourceProfiles := profiles.ResourceProfiles().AppendEmpty()
	attributes := pcommon.NewMap()
	fill(resourceProfiles.Resource().Attributes(), attributes)
	dict := profiles.Dictionary()
	dict.StringTable().Append("")
	dict.StackTable().AppendEmpty()
	dict.LocationTable().AppendEmpty()
	dict.FunctionTable().AppendEmpty()
	dict.MappingTable().AppendEmpty()
	dict.LinkTable().AppendEmpty()
	dict.AttributeTable().AppendEmpty()
	profile := resourceProfiles.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	for key, value := range attributes.All() {
		entry := dict.AttributeTable().AppendEmpty()
		entry.SetKeyStrindex(int32(dict.StringTable().Len()))
		dict.StringTable().Append(key)
		value.CopyTo(entry.Value())
		profile.AttributeIndices().Append(int32(dict.AttributeTable().Len() - 1))
	}
	profile.Samples().AppendEmpty().TimestampsUnixNano().Append(1_795_755_600_000_000_000)

	all := map[string]otlpMessage{}
	for path, message := range map[string]interface {
		MarshalProto() ([]byte, error)
		MarshalJSON() ([]byte, error)
	}{
		"traces": ptraceotlp.NewExportRequestFromTraces(traces), "logs": plogotlp.NewExportRequestFromLogs(logs),
		"metrics": pmetricotlp.NewExportRequestFromMetrics(metrics), "profiles": pprofileotlp.NewExportRequestFromProfiles(profiles),
	} {
		encoded, err := message.MarshalProto()
		require.NoError(t, err)
		text, err := message.MarshalJSON()
		require.NoError(t, err)
		all[path] = otlpMessage{"otel_" + path + "_data", encoded, text}
	}
	return all
}

// only returns the only message of the signal that arrived, in protobuf, with its resource and its
// context.
func (s *signals) onlyOTLP(t *testing.T) (resource map[string]any, text string) {
	t.Helper()
	switch {
	case s.traces.SpanCount() > 0:
		require.Len(t, s.traces.AllTraces(), 1)
		all := s.traces.AllTraces()[0]
		require.Equal(t, 1, all.ResourceSpans().Len())
		resource = all.ResourceSpans().At(0).Resource().Attributes().AsRaw()
		encoded, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(all)
		require.NoError(t, err)
		return resource, string(encoded)
	case s.logs.LogRecordCount() > 0:
		require.Len(t, s.logs.AllLogs(), 1)
		all := s.logs.AllLogs()[0]
		resource = all.ResourceLogs().At(0).Resource().Attributes().AsRaw()
		encoded, err := (&plog.ProtoMarshaler{}).MarshalLogs(all)
		require.NoError(t, err)
		return resource, string(encoded)
	case s.points.DataPointCount() > 0:
		require.Len(t, s.points.AllMetrics(), 1)
		all := s.points.AllMetrics()[0]
		resource = all.ResourceMetrics().At(0).Resource().Attributes().AsRaw()
		encoded, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(all)
		require.NoError(t, err)
		return resource, string(encoded)
	}
	all, _ := s.sink.only(t)
	resource = all.ResourceProfiles().At(0).Resource().Attributes().AsRaw()
	encoded, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(all) // moves attributes to the dictionary
	require.NoError(t, err)
	return resource, string(encoded)
}

// TestOTLP: every signal arrives at every path in every encoding, as data of the project, scrubbed
// and without personal data.
func TestOTLP(t *testing.T) {
	for signal, message := range otlpMessages(t) {
		paths := []string{"/api/42/integration/otlp/v1/" + signal + "/", "/api/42/integration/otlp/v1/" + signal, "/api/42/otlp/v1/" + signal}
		if signal == "profiles" {
			paths = append(paths, "/api/42/integration/otlp/v1development/profiles", "/api/42/otlp/v1development/profiles/")
		}
		for i, path := range paths {
			for contentType, body := range map[string][]byte{protobuf: message.proto, asJSON + "; charset=utf-8": message.json} {
				coding := []string{"", "gzip", "br", "zstd"}[i%4]
				t.Run(path+" "+contentType+" "+coding, func(t *testing.T) {
					s := startSignals(t, nil)
					if coding != "" {
						body = encode(t, coding, body)
					}
					req := s.otlpRequest(path, contentType, body)
					req.Header.Set("Content-Encoding", coding)
					got := s.doOTLP(req)
					require.Equal(t, http.StatusOK, got.status, "%s", got.body)
					if contentType == protobuf {
						assert.Equal(t, protobuf, got.header.Get("Content-Type"))
						assert.Empty(t, got.body, "an empty message")
					} else {
						assert.Equal(t, asJSON, got.header.Get("Content-Type"))
						assert.Equal(t, "{}", string(got.body))
					}
					assert.Equal(t, map[string]int64{"outcome=accepted type=" + message.item: 1}, s.items())
					resource, text := s.onlyOTLP(t)
					assert.Equal(t, map[string]any{semconv.ServiceName: "shop", semconv.SentryProjectID: "42"}, resource)
					assert.Contains(t, text, "order")
					assert.NotContains(t, text, "hunter2")
					assert.NotContains(t, text, "ann@example.com")
					assert.Zero(t, s.receiver.Shared.inflight.Used())
				})
			}
		}
	}
}

// TestOTLPIsPrivate: personal data is not in a message, not even in its unused texts, whatever is
// scrubbed.
func TestOTLPIsPrivate(t *testing.T) {
	for signal, message := range otlpMessages(t) {
		s := startSignals(t, func(c *Config) { c.Scrubbing = scrub.Config{} })
		require.Equal(t, http.StatusOK, s.doOTLP(s.otlpRequest("/api/42/otlp/v1/"+signal, protobuf, message.proto)).status)
		_, text := s.onlyOTLP(t)
		assert.Contains(t, text, "hunter2", signal)
		assert.NotContains(t, text, "ann@example.com", signal)
	}
}

// TestOTLPOfASentrySDK: a request as the OTLP integration of an SDK sends it.
func TestOTLPOfASentrySDK(t *testing.T) {
	body, err := os.ReadFile("testdata/otlp-traces-of-a-sentry-sdk.json")
	require.NoError(t, err)
	s := startSignals(t, func(c *Config) { twoProjects(c); c.IncludePII = true })
	got := s.doOTLP(s.otlpRequest("/api/42/integration/otlp/v1/traces/", asJSON, body))
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	require.Equal(t, 1, s.traces.SpanCount())
	resource := s.traces.AllTraces()[0].ResourceSpans().At(0)
	assert.Equal(t, "checkout", resource.ScopeSpans().At(0).Spans().At(0).Name())
	assert.Equal(t, map[string]any{
		semconv.SentryProjectID: "42", "service.name": "shop", "deployment.environment.name": "staging", "host.arch": "mips",
		"team.oncall": true, "team.size": int64(4), "team.share": 0.5, "team.members": []any{"ann", "bob"},
	}, resource.Resource().Attributes().AsRaw(), "with the attributes of the project")
	ctx := s.traces.Contexts()[0]
	assert.Equal(t, tenant.Tenant{Ingress: tenant.Sentry, Name: "42"}, tenant.FromContext(ctx))
	assert.Equal(t, map[string]int64{"outcome=accepted project=42 sdk=sentry.python sdk_version=2.75 type=otel_traces_data": 1},
		s.counts("otelcol_receiver_sentry_items"))
}

// TestOTLPServiceName: SDKs without a configured name send a placeholder, which would be the same
// for all services.
func TestOTLPServiceName(t *testing.T) {
	for stated, want := range map[string]string{"": "sentry-project-42", "unknown_service": "sentry-project-42", "unknown_service:node": "sentry-project-42", "api": "api"} {
		s := startSignals(t, nil)
		traces := ptrace.NewTraces()
		resource := traces.ResourceSpans().AppendEmpty()
		resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		resource.Resource().Attributes().PutStr(semconv.ServiceName, stated)
		body, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, s.doOTLP(s.otlpRequest("/api/42/otlp/v1/traces", protobuf, body)).status)
		attributes, _ := s.onlyOTLP(t)
		assert.Equal(t, want, attributes[semconv.ServiceName], stated)
	}
}

// field is a field of a protobuf message.
func field(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// nestedProto is an attribute of a resource whose value is nested.
func nestedProto(levels int) []byte {
	var backwards []byte
	for range levels {
		for _, tag := range []byte{0x0a, 0x2a} { // values, array_value
			prefix := protowire.AppendVarint([]byte{tag}, uint64(len(backwards)))
			slices.Reverse(prefix)
			backwards = append(backwards, prefix...)
		}
	}
	slices.Reverse(backwards)
	return field(1, field(1, field(1, append(field(1, []byte("k")), field(2, backwards)...))))
}

// oneTextOfMany is a profile whose resource has attributes that refer to one text of the
// dictionary.
func oneTextOfMany(long, attributes int) []byte {
	dictionary := bytes.Join([][]byte{field(5, nil), field(5, []byte(`{"cookie":"a=b","x":"`+strings.Repeat("x", long)+`"}`))}, nil)
	var resource []byte
	for i := range attributes {
		resource = append(resource, field(1, append(field(1, fmt.Append(nil, i)), field(2, []byte{8 << 3, 1})...))...)
	}
	return append(field(2, dictionary), field(1, append(field(1, resource), field(2, field(2, nil))...))...)
}

// TestHostileOTLP: messages are not decoded before their memory is claimed, and the answer tells
// clients not to resend them.
func TestHostileOTLP(t *testing.T) {
	deep := strings.Repeat(`{"arrayValue":{"values":[`, 20_000)
	for name, test := range map[string]struct {
		path, contentType string
		body              []byte
		status            int
		reason            string // of the item
	}{
		"nested protobuf":  {"traces", protobuf, nestedProto(20_000), 413, "too_much_memory"},
		"nested JSON":      {"traces", asJSON, []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"k","value":` + deep), 413, "too_much_memory"},
		"empty spans":      {"traces", protobuf, field(1, field(2, bytes.Repeat([]byte{0x12, 0}, 200_000))), 413, "too_much_memory"},
		"empty resources":  {"logs", protobuf, bytes.Repeat([]byte{0x0a, 0}, 200_000), 413, "too_much_memory"},
		"empty points":     {"metrics", protobuf, field(1, field(2, field(2, field(7, bytes.Repeat([]byte{0x0a, 0}, 400_000))))), 413, "too_much_memory"},
		"empty samples":    {"profiles", protobuf, field(1, field(2, field(2, bytes.Repeat([]byte{0x12, 0}, 200_000)))), 413, "too_much_memory"},
		"empty in JSON":    {"traces", asJSON, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{}` + strings.Repeat(",{}", 200_000) + `]}]}]}`), 413, "too_much_memory"},
		"JSON in a text":   {"traces", protobuf, field(1, field(2, field(2, field(9, append(field(1, []byte("a")), field(2, field(1, []byte(`[{"cookie":1}`+strings.Repeat(",{}", 200_000)+"]")))...))))), 413, "too_much_memory"},
		"one text of many": {"profiles", protobuf, oneTextOfMany(1<<20, 100), 413, "too_much_memory"},
		"cut":              {"traces", protobuf, []byte{0x0a, 0x7f, 0}, 400, "invalid_otlp"},
		"wrong wire type":  {"logs", protobuf, []byte{0x08, 1}, 400, "invalid_otlp"},
		"wrong encoding":   {"traces", protobuf, []byte(`{"resourceSpans":[]}`), 400, "invalid_otlp"},
		"no JSON":          {"traces", asJSON, []byte(`secret`), 400, "invalid_otlp"},
		"no body":          {"traces", asJSON, nil, 400, "invalid_otlp"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, tight)
			got := s.doOTLP(s.otlpRequest("/api/42/integration/otlp/v1/"+test.path, test.contentType, test.body))
			assert.Equal(t, test.status, got.status)
			failure := got.failure(t, test.contentType)
			assert.Equal(t, codes.InvalidArgument, failure.Code())
			assert.NotEmpty(t, failure.Message())
			assert.NotContains(t, failure.Message(), "secret")
			assert.Equal(t, map[string]int64{"outcome=discarded reason=" + test.reason + " type=otel_" + test.path + "_data": 1}, s.items())
			assert.Zero(t, s.receiver.Shared.inflight.Used())
			assert.Zero(t, s.traces.SpanCount()+s.logs.LogRecordCount()+s.points.DataPointCount()+s.sink.count())
		})
	}
}

// TestOTLPResourcesAreInTheBudget: each resource gains the attributes of its project.
func TestOTLPResourcesAreInTheBudget(t *testing.T) {
	smallest := field(1, field(2, field(2, nil)))
	body := bytes.Repeat(smallest, 1000)
	s := startSignals(t, nil)
	require.Equal(t, http.StatusOK, s.doOTLP(s.otlpRequest("/api/42/otlp/v1/logs", protobuf, body)).status)
	require.Equal(t, 1000, s.logs.LogRecordCount())
	assert.LessOrEqual(t, s.marshalled(), attr.MaxGrowth*len(body))

	long := strings.Repeat("x", 4000)
	s = startSignals(t, func(c *Config) {
		tight(c)
		c.Projects = []ProjectConfig{{ID: 42, PublicKeys: []string{testKey}, ResourceAttributes: map[string]any{"team": long}}}
	})
	got := s.doOTLP(s.otlpRequest("/api/42/otlp/v1/logs", protobuf, bytes.Repeat(smallest, 10_000)))
	assert.Equal(t, http.StatusRequestEntityTooLarge, got.status, "%d", 10_000*len(long))
	assert.Zero(t, s.logs.LogRecordCount())
}

// TestOTLPRepeatedProject: of a key that is stated twice, consumers read the first or the last.
func TestOTLPRepeatedProject(t *testing.T) {
	attribute := func(key, value string) []byte {
		return field(1, append(field(1, []byte(key)), field(2, field(1, []byte(value)))...))
	}
	resource := bytes.Join([][]byte{attribute("sentry.project_id", "7"), attribute("sentry.project_id", "7"), attribute("host.arch", "a"), attribute("host.arch", "b")}, nil)
	body := field(1, append(field(1, resource), field(2, field(2, nil))...))
	s := startSignals(t, twoProjects)
	require.Equal(t, http.StatusOK, s.doOTLP(s.otlpRequest("/api/42/otlp/v1/logs", protobuf, body)).status)
	counts := map[string]int{}
	for key := range s.logs.AllLogs()[0].ResourceLogs().At(0).Resource().Attributes().All() {
		counts[key]++
	}
	assert.Equal(t, 1, counts["sentry.project_id"])
	assert.Equal(t, 1, counts["host.arch"])
}

// TestOTLPRejections: the statuses that clients resend are those of other data that may succeed
// later.
func TestOTLPRejections(t *testing.T) {
	body := otlpMessages(t)["logs"].proto
	for name, test := range map[string]struct {
		change  func(*http.Request)
		consume error
		status  int
		code    codes.Code
	}{
		"busy":           {nil, errors.New("full"), 429, codes.ResourceExhausted},
		"permanent":      {nil, consumererror.NewPermanent(errors.New("no")), 400, codes.InvalidArgument},
		"no key":         {func(r *http.Request) { r.Header.Del("X-Sentry-Auth") }, nil, 401, codes.Unauthenticated},
		"unknown key":    {func(r *http.Request) { r.Header.Set("X-Sentry-Auth", "Sentry sentry_key=a") }, nil, 403, codes.PermissionDenied},
		"unknown coding": {func(r *http.Request) { r.Header.Set("Content-Encoding", "lz4") }, nil, 415, codes.InvalidArgument},
		"damaged coding": {func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, nil, 400, codes.InvalidArgument},
		"method":         {func(r *http.Request) { r.Method = http.MethodPut }, nil, 405, codes.Unimplemented},
		"unknown signal": {func(r *http.Request) { r.URL.Path = "/api/42/otlp/v1/entities" }, nil, 404, codes.Unimplemented},
		"profile version": {func(r *http.Request) {
			r.URL.Path = "/api/42/otlp/v1/profiles"
			r.Header.Set("Otlp-Profiles-Development-Version", "999")
		}, nil, 400, codes.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			h := startLogs(t, twoProjects, func(context.Context, plog.Logs) error { return test.consume })
			for _, contentType := range []string{protobuf, asJSON} {
				if contentType == asJSON && test.consume != nil {
					continue
				}
				req := h.otlpRequest("/api/42/otlp/v1/logs", contentType, body)
				if test.change != nil {
					test.change(req)
				}
				got := h.doOTLP(req)
				assert.Equal(t, test.status, got.status, "%s", got.body)
				failure := got.failure(t, contentType)
				assert.Equal(t, test.code, failure.Code())
				assert.NotEmpty(t, failure.Message())
				assert.Equal(t, test.status == 429, got.header.Get("Retry-After") != "")
			}
		})
	}
	h := start(t, nil)
	got := h.doOTLP(h.otlpRequest("/api/42/otlp/v1/logs", "text/plain", body))
	assert.Equal(t, 415, got.status)
	got.failure(t, asJSON)
	assert.Equal(t, map[string]int64{"reason=body_invalid": 1}, h.rejected())
}

// TestOTLPWithoutAPipeline: as for other items without one, the client need not know.
func TestOTLPWithoutAPipeline(t *testing.T) {
	h := start(t, nil) // profiles only
	for signal, message := range otlpMessages(t) {
		assert.Equal(t, http.StatusOK, h.doOTLP(h.otlpRequest("/api/42/otlp/v1/"+signal, protobuf, message.proto)).status)
	}
	assert.Equal(t, map[string]int64{
		"outcome=accepted type=otel_profiles_data": 1, "outcome=ignored reason=no_pipeline type=otel_traces_data": 1,
		"outcome=ignored reason=no_pipeline type=otel_logs_data": 1, "outcome=ignored reason=no_pipeline type=otel_metrics_data": 1,
	}, h.items())
}

// TestOTLPIsDeduplicated: a client that received no answer sends a message again.
func TestOTLPIsDeduplicated(t *testing.T) {
	s := startSignals(t, func(c *Config) { c.Dedup.MaxIDs = 100 })
	for range 2 {
		require.Equal(t, http.StatusOK, s.doOTLP(s.otlpRequest("/api/42/otlp/v1/traces", protobuf, otlpMessages(t)["traces"].proto)).status)
	}
	assert.Equal(t, 1, s.traces.SpanCount())
}

// TestUnknownEndpoints: what a request asks for is counted under few names, and its path is logged
// once.
func TestUnknownEndpoints(t *testing.T) {
	h := start(t, nil)
	for path, name := range map[string]string{
		"/api/42/minidump/": "minidump", "/api/42/unreal/" + testKey + "/": "unreal", "/api/42/playstation/": "playstation", "/api/42/upload/": "upload",
		"/api/42/events/" + testKey + "/attachments/": "events", "/api/0/organizations/x/releases/": "management", "/api/42/envelope/x": "envelope",
		"/api/42/otlp/v2/traces": "otlp", "/api/42/" + strings.Repeat("x", 5000): "other", "/metrics": "other", "/": "other",
	} {
		t.Run(name, func(t *testing.T) {
			before, logged := h.rejected()["endpoint="+name+" reason=not_found"], h.logs.FilterMessage("Request rejected").Len()
			got := h.do(h.request(http.MethodPost, path, nil))
			assert.Equal(t, http.StatusNotFound, got.status)
			assert.Equal(t, before+1, h.rejected()["endpoint="+name+" reason=not_found"])
			switch name {
			case "minidump", "unreal", "playstation", "upload", "events", "management":
				assert.Contains(t, fmt.Sprint(got.Causes), "sentry_tee")
			default:
				assert.Empty(t, got.Causes)
			}
			for _, entry := range h.logs.FilterMessage("Request rejected").All()[logged:] {
				said := entry.ContextMap()["path"].(string)
				assert.True(t, strings.HasPrefix(said, "/"))
				assert.LessOrEqual(t, len(said), maxPrintedPath)
				assert.NotContains(t, said, testKey)
			}
		})
	}
}
