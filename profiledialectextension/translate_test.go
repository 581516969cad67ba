// SPDX-License-Identifier: Apache-2.0

package profiledialectextension

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/rawotlp"
)

const path = "/v1development/profiles"

// recorded returns a message that the tests of internal/profiles/dialect compare with today's.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	encoded, err := os.ReadFile(filepath.Join(golden.Root(t), "internal", "profiles", "dialect", "testdata", name))
	require.NoError(t, err)
	return encoded
}

func newTest(t *testing.T, cfg *Config) (*translator, *componenttest.Telemetry) {
	t.Helper()
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { assert.NoError(t, telemetry.Shutdown(context.Background())) })
	set := extension.Settings{ID: component.NewID(componentType), TelemetrySettings: telemetry.NewTelemetrySettings()}
	created, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	return created.(*translator), telemetry
}

func decoded(t *testing.T, request []byte) string {
	t.Helper()
	p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(request)
	require.NoError(t, err)
	return dictionarytest.Dump(p)
}

func today(t *testing.T, name string) string {
	t.Helper()
	current, _, err := dialect.Decode(recorded(t, name))
	require.NoError(t, err)
	return decoded(t, current)
}

func TestHTTPServer(t *testing.T) {
	translator, telemetry := newTest(t, &Config{Dialect: "v1_11"})
	wrap, err := translator.GetHTTPHandler(t.Context())
	require.NoError(t, err)
	var got []byte
	handler, err := wrap(t.Context(), http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		got, err = io.ReadAll(req.Body)
		assert.NoError(t, err)
		assert.EqualValues(t, len(got), req.ContentLength)
	}))
	require.NoError(t, err)
	post := func(path, contentType string, body []byte) *httptest.ResponseRecorder {
		got = nil
		return rawotlp.Post(handler, path, contentType, body)
	}
	for _, name := range []string{"otlp-1.7/totals.pb", "otlp-1.8/attributes.pb", "otlp-1.9/attributes.pb", "otlp-1.9/timestamps.pb"} {
		assert.Equal(t, 200, post(path, "application/x-protobuf", recorded(t, name)).Code)
		assert.Equal(t, today(t, name), decoded(t, got), name)
	}
	full := httpbody.NewBudget(1<<20, func(context.Context, int64) {}).Claim(t.Context()).NeverWait() // of otlp_limit
	late := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(recorded(t, "otlp-1.7/totals.pb")))
	late.Header.Set("Content-Type", "application/x-protobuf")
	unavailable := httptest.NewRecorder()
	handler.ServeHTTP(unavailable, late.WithContext(full.NewContext(t.Context())))
	assert.Equal(t, 503, unavailable.Code)
	assert.Equal(t, "1", unavailable.Header().Get("Retry-After"))
	answer := post(path, "application/x-protobuf", recorded(t, "otlp-1.7/ambiguous.pb"))
	assert.Equal(t, 400, answer.Code)
	assert.Contains(t, answer.Body.String(), "old-profiler 0.7")
	assert.Contains(t, answer.Body.String(), "OTLP 1.7")
	assert.Nil(t, got)

	old := recorded(t, "otlp-1.9/attributes.pb")
	for _, other := range [][2]string{{"/v1/traces", "application/x-protobuf"}, {path, "application/json"}} {
		assert.Equal(t, 200, post(other[0], other[1], old).Code)
		assert.Equal(t, old, got, other)
	}
	stated := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(old))
	stated.Header.Set("Content-Type", "application/x-protobuf")
	stated.Header.Set("OTLP-Profiles-Development-Version", "2")
	handler.ServeHTTP(httptest.NewRecorder(), stated)
	assert.Equal(t, old, got, "the receiver rejects other versions")

	limited := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, path, http.MaxBytesReader(limited, io.NopCloser(bytes.NewReader(old)), 10))
	req.Header.Set("Content-Type", "application/x-protobuf")
	handler.ServeHTTP(limited, req)
	assert.Equal(t, http.StatusRequestEntityTooLarge, limited.Code)

	metadatatest.CheckInstruments(t, telemetry, scopeName)
	assert.Equal(t, map[string]int64{
		"received translated 1.7": 1, "received translated 1.8": 1, "received translated 1.9": 1, "received unchanged 1.10": 1, "received rejected 1.7": 2,
	}, counts(t, telemetry))
}

func TestHTTPClient(t *testing.T) {
	request := current(t)
	old, err := dialect.Encode(request, dialect.V1_9, true)
	require.NoError(t, err)
	var got []byte
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body := io.Reader(req.Body)
		if req.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(body)
			assert.NoError(t, err)
			body = unzipped
		}
		got, err = io.ReadAll(body)
		assert.NoError(t, err)
	}))
	defer backend.Close()
	send := func(cfg *Config, encoding string, body []byte) int {
		translator, _ := newTest(t, cfg)
		wrap, err := translator.GetHTTPRoundTripper(t.Context())
		require.NoError(t, err)
		transport, err := wrap(t.Context(), backend.Client().Transport)
		require.NoError(t, err)
		req, err := http.NewRequest(http.MethodPost, backend.URL+path, bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-protobuf")
		if encoding != "" {
			req.Header.Set("Content-Encoding", encoding)
		}
		got = nil
		response, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	zipped, err := compressed(request, "gzip")
	require.NoError(t, err)
	assert.Equal(t, 200, send(&Config{Dialect: "v1_9"}, "", request))
	assert.Equal(t, old, got)
	assert.Equal(t, 200, send(&Config{Dialect: "v1_9"}, "gzip", zipped))
	assert.Equal(t, old, got)
	assert.Equal(t, 200, send(&Config{Dialect: "v1_10"}, "gzip", zipped))
	assert.Equal(t, request, got)
	assert.Equal(t, 200, send(&Config{Dialect: "v1_11", InlineAttributes: true}, "", request))
	assert.NotEqual(t, request, got)
	assert.Equal(t, decoded(t, request), decoded(t, got))
	assert.Equal(t, 400, send(&Config{Dialect: "v1_9"}, "zstd", request))
	assert.Nil(t, got)
}

// current is a message with attributes of resources, in the current dialect.
func current(t *testing.T) []byte {
	t.Helper()
	p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(recorded(t, "otlp-1.9/timestamps.pb"))
	require.NoError(t, err)
	request, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
	require.NoError(t, err)
	return request
}

// sink is a gRPC server that keeps the last message.
type sink struct {
	pprofileotlp.UnimplementedGRPCServer
	got string
}

func (s *sink) Export(_ context.Context, req pprofileotlp.ExportRequest) (pprofileotlp.ExportResponse, error) {
	s.got = dictionarytest.Dump(req.Profiles())
	return pprofileotlp.NewExportResponse(), nil
}

const method = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"

// otlp_limit, which may not reach this package, uses the codec of an extension with this method.
var _ interface{ ServerCodec() encoding.CodecV2 } = (*translator)(nil)

func TestGRPCServer(t *testing.T) {
	translator, telemetry := newTest(t, &Config{Dialect: "v1_11"})
	options, err := translator.GetGRPCServerOptions(t.Context())
	require.NoError(t, err)
	server, received := grpc.NewServer(options...), &sink{}
	pprofileotlp.RegisterGRPCServer(server, received)
	conn := rawotlp.Dial(t, server, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawotlp.Codec{})))
	var answer []byte
	for _, name := range []string{"otlp-1.7/totals.pb", "otlp-1.8/attributes.pb", "otlp-1.9/attributes.pb", "otlp-1.9/timestamps.pb"} {
		require.NoError(t, conn.Invoke(t.Context(), method, recorded(t, name), &answer), name)
		assert.Equal(t, today(t, name), received.got, name)
	}
	assert.ErrorContains(t, conn.Invoke(t.Context(), method, recorded(t, "otlp-1.7/outside.pb"), &answer), "OTLP 1.7")
	assert.EqualValues(t, 1, counts(t, telemetry)["received rejected 1.7"])
}

func TestGRPCClient(t *testing.T) {
	request := current(t)
	p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(request)
	require.NoError(t, err)
	for _, cfg := range []*Config{{Dialect: "v1_9"}, {Dialect: "v1_11", InlineAttributes: true}} {
		translator, _ := newTest(t, cfg)
		options, err := translator.GetGRPCClientOptions(t.Context())
		require.NoError(t, err)
		var got []byte
		server := grpc.NewServer(grpc.ForceServerCodecV2(rawotlp.Codec{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			if err := stream.RecvMsg(&got); err != nil {
				return err
			}
			return stream.SendMsg([]byte{})
		}))
		_, err = pprofileotlp.NewGRPCClient(rawotlp.Dial(t, server, options...)).Export(t.Context(), pprofileotlp.NewExportRequestFromProfiles(p))
		require.NoError(t, err)
		want, err := dialect.Encode(request, dialects[cfg.Dialect], true)
		require.NoError(t, err)
		assert.Equal(t, want, got, cfg.Dialect)
	}
}

func counts(t *testing.T, telemetry *componenttest.Telemetry) map[string]int64 {
	t.Helper()
	found, err := telemetry.GetMetric("otelcol_extension_profile_dialect_requests")
	require.NoError(t, err)
	sums := map[string]int64{}
	for _, point := range found.Data.(metricdata.Sum[int64]).DataPoints {
		text := func(key string) string {
			value, _ := point.Attributes.Value(attribute.Key(key))
			return value.AsString()
		}
		sums[text("direction")+" "+text("outcome")+" "+text("version")] += point.Value
	}
	return sums
}
