// SPDX-License-Identifier: Apache-2.0

package otlplimitextension

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/rawotlp"
)

func TestREADMEConfigs(t *testing.T) { metadatatest.CheckREADME(t, "extensions", NewFactory()) }

func TestConfig(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, cfg.Validate())
	cfg.MaxBytesInFlight = 1000
	metadatatest.ErrorHas(t, cfg.Validate(), "max_bytes_in_flight: is 1000", "16777216")
}

func newTest(t *testing.T) (*limiter, *componenttest.Telemetry) {
	t.Helper()
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { assert.NoError(t, telemetry.Shutdown(context.Background())) })
	set := extension.Settings{ID: component.NewID(componentType), TelemetrySettings: telemetry.NewTelemetrySettings()}
	created, err := NewFactory().Create(t.Context(), set, createDefaultConfig())
	require.NoError(t, err)
	return created.(*limiter), telemetry
}

// rejections returns the number of rejected requests by reason.
func rejections(t *testing.T, telemetry *componenttest.Telemetry) map[string]int64 {
	t.Helper()
	found, err := telemetry.GetMetric("otelcol_extension_otlp_limit_requests_rejected")
	require.NoError(t, err)
	sums := map[string]int64{}
	for _, point := range found.Data.(metricdata.Sum[int64]).DataPoints {
		reason, _ := point.Attributes.Value("reason")
		sums[reason.AsString()] += point.Value
	}
	return sums
}

// emptySpans returns an encoded message of n empty spans.
func emptySpans(n int) []byte {
	message := bytes.Repeat([]byte{2<<3 | 2, 0}, n)
	for _, number := range []protowire.Number{2, 1} {
		message = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), message)
	}
	return message
}

const protobuf, jsonType = "application/x-protobuf", "application/json"

func TestHTTP(t *testing.T) {
	l, telemetry := newTest(t)
	wrap, err := l.GetHTTPHandler(t.Context())
	require.NoError(t, err)
	var got []byte
	var held int64
	handler, err := wrap(t.Context(), http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		got, err = io.ReadAll(req.Body)
		assert.NoError(t, err)
		assert.EqualValues(t, len(got), req.ContentLength)
		held = l.budget.Used()
	}))
	require.NoError(t, err)

	small := emptySpans(1000)
	require.Equal(t, 200, rawotlp.Post(handler, "/v1/traces", protobuf, small).Code)
	assert.Equal(t, small, got)
	assert.Greater(t, held, int64(200_000), "while the receiver handles it")
	json := []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{}` + strings.Repeat(",{}", 999) + `]}]}]}`)
	require.Equal(t, 200, rawotlp.Post(handler, "/v1/traces", jsonType, json).Code)
	assert.Equal(t, json, got)
	assert.Greater(t, held, int64(200_000))
	require.Equal(t, 200, rawotlp.Post(handler, "/other", "text/plain", small).Code, "the receiver rejects it")
	require.Equal(t, 200, rawotlp.Post(handler, "/configured", protobuf, small).Code)
	assert.Greater(t, held, int64(200_000))
	assert.Zero(t, l.budget.Used())

	got = nil
	large, largeJSON := emptySpans(2<<20), []byte("["+strings.Repeat("{},", 1<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	assert.Equal(t, 413, rawotlp.Post(handler, "/v1/traces", protobuf, large).Code)
	assert.Equal(t, 413, rawotlp.Post(handler, "/v1/traces", jsonType, largeJSON).Code)
	assert.Equal(t, 400, rawotlp.Post(handler, "/v1/traces", protobuf, []byte{1<<3 | 2, 5}).Code)
	assert.Equal(t, 400, rawotlp.Post(handler, "/configured", protobuf, []byte{1<<3 | 2, 5}).Code)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "a small multiple of the encoded size")
	limited := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/v1/traces", http.MaxBytesReader(limited, io.NopCloser(bytes.NewReader(small)), 10))
	handler.ServeHTTP(limited, req)
	assert.Equal(t, 413, limited.Code)
	assert.Nil(t, got, "rejected messages are not decoded")
	assert.Zero(t, l.budget.Used())
	assert.Equal(t, map[string]int64{messageTooLarge: 3, undecodable: 2}, rejections(t, telemetry))
	metadatatest.CheckInstruments(t, telemetry, scopeName)
}

// TestHTTPWaits: a request waits for the memory of others, and then tells its client to retry. A
// client with another address gets its share.
func TestHTTPWaits(t *testing.T) {
	l, telemetry := newTest(t)
	wrap, err := l.GetHTTPHandler(t.Context())
	require.NoError(t, err)
	handler, err := wrap(t.Context(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		other := l.claim(t.Context(), remote(httptest.NewRequest(http.MethodPost, "/", nil)))
		require.NoError(t, other.Acquire(100<<20))
		begin := time.Now()
		answer := rawotlp.Post(handler, "/v1/traces", protobuf, emptySpans(50_000))
		assert.Equal(t, 503, answer.Code)
		assert.Equal(t, "1", answer.Header().Get("Retry-After"))
		assert.Equal(t, 2*time.Second, time.Since(begin))

		elsewhere := httptest.NewRequest(http.MethodPost, "/v1/traces", bytes.NewReader(emptySpans(50_000)))
		elsewhere.RemoteAddr = "203.0.113.1:1"
		elsewhere.Header.Set("Content-Type", protobuf)
		served := httptest.NewRecorder()
		handler.ServeHTTP(served, elsewhere)
		assert.Equal(t, 200, served.Code)
		other.Release()
	})
	assert.Zero(t, l.budget.Used())
	assert.Equal(t, map[string]int64{bytesInFlight: 1}, rejections(t, telemetry))
}

// sink is a gRPC server that keeps the number of spans of the last message.
type sink struct {
	ptraceotlp.UnimplementedGRPCServer
	spans int
	held  int64
	l     *limiter
}

func (s *sink) Export(_ context.Context, req ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	s.spans, s.held = req.Traces().SpanCount(), s.l.budget.Used()
	return ptraceotlp.NewExportResponse(), nil
}

const method = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// serve starts a gRPC server with further options, and returns a function that calls it with bytes.
func serve(t *testing.T, received *sink, options ...grpc.ServerOption) func(method string, message []byte) codes.Code {
	t.Helper()
	s := newServer(received.l)
	server := grpc.NewServer(append(options, s.options()...)...)
	t.Cleanup(func() { assert.Empty(t, s.kept.messages) })
	ptraceotlp.RegisterGRPCServer(server, received)
	conn := rawotlp.Dial(t, server, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawotlp.Codec{})))
	return func(method string, message []byte) codes.Code {
		var answer []byte
		return status.Code(conn.Invoke(t.Context(), method, message, &answer))
	}
}

// released waits until all calls have released their memory.
func released(t *testing.T, l *limiter) {
	t.Helper()
	require.Eventually(t, func() bool { return l.budget.Used() == 0 }, 10*time.Second, time.Millisecond)
}

func TestGRPC(t *testing.T) {
	l, telemetry := newTest(t)
	require.NoError(t, l.Start(t.Context(), componenttest.NewNopHost()))
	received := &sink{l: l}
	call := serve(t, received)
	require.Equal(t, codes.OK, call(method, emptySpans(1000)))
	assert.Equal(t, 1000, received.spans)
	assert.Greater(t, received.held, int64(receivingBytes+200_000))
	received.spans = 0
	assert.Equal(t, codes.ResourceExhausted, call(method, emptySpans(2<<20-10)))
	assert.Equal(t, codes.InvalidArgument, call(method, []byte{1<<3 | 2, 5}))
	assert.Equal(t, codes.Unimplemented, call(method+"s", emptySpans(10)))
	released(t, l)
	full := l.claim(t.Context(), nil)
	require.NoError(t, full.Acquire(l.max-receivingBytes/2))
	assert.Equal(t, codes.Unavailable, call(method, emptySpans(10)))
	full.Release()
	assert.Zero(t, received.spans)
	assert.Equal(t, map[string]int64{messageTooLarge: 1, undecodable: 1, bytesInFlight: 1}, rejections(t, telemetry))
	metadatatest.CheckInstruments(t, telemetry, scopeName)
}

// TestGRPCAuthenticates: a message of a rejected client is not decoded, and not kept.
func TestGRPCAuthenticates(t *testing.T) {
	l, _ := newTest(t)
	received, decoded := &sink{l: l}, 0
	l.codec = countingCodec{l.codec, &decoded}
	call := serve(t, received, grpc.ChainUnaryInterceptor(func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
		return nil, status.Error(codes.Unauthenticated, "no")
	}))
	assert.Equal(t, codes.Unauthenticated, call(method, emptySpans(1000)))
	assert.Zero(t, decoded)
	released(t, l)
}

type countingCodec struct {
	encoding.CodecV2
	decoded *int
}

func (c countingCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*c.decoded++
	return c.CodecV2.Unmarshal(data, v)
}

// TestGRPCStalled: a call whose message does not arrive in time is canceled.
func TestGRPCStalled(t *testing.T) {
	l, _ := newTest(t)
	s := newServer(l)
	s.receivingTime = 20 * time.Millisecond
	ctx, err := s.tap(t.Context(), nil)
	require.NoError(t, err)
	<-ctx.Done()
	assert.ErrorIs(t, ctx.Err(), context.Canceled)
	released(t, l)
}

// TestOtherCodec: messages are decoded by the codec of another extension.
func TestOtherCodec(t *testing.T) {
	l, _ := newTest(t)
	require.NoError(t, l.Start(t.Context(), host{component.MustNewID("other"): translator{}}))
	received := &sink{l: l}
	call := serve(t, received)
	require.Equal(t, codes.OK, call(method, emptySpans(1000)))
	assert.Equal(t, 7, received.spans)
}

// TestLimitedCodec: a codec that translates messages reserves its memory.
func TestLimitedCodec(t *testing.T) {
	l, _ := newTest(t)
	l.codec = doubling{l.codec}
	received := &sink{l: l}
	call := serve(t, received)
	require.Equal(t, codes.OK, call(method, emptySpans(1000)))
	assert.Greater(t, received.held, int64(receivingBytes+200_000+1<<20))
	full := l.claim(t.Context(), nil)
	require.NoError(t, full.Acquire(l.max-receivingBytes-1<<20))
	assert.Equal(t, codes.Unavailable, call(method, emptySpans(1000)))
	full.Release()
	released(t, l)
}

type doubling struct{ encoding.CodecV2 }

func (c doubling) UnmarshalWithin(data mem.BufferSlice, v any, reserve func(int) error) error {
	if err := reserve(1 << 20); err != nil {
		return fmt.Errorf("translation: %w", err)
	}
	return c.Unmarshal(data, v)
}

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

type translator struct {
	component.StartFunc
	component.ShutdownFunc
}

func (translator) ServerCodec() encoding.CodecV2 { return sevenSpans{encoding.GetCodecV2("proto")} }

type sevenSpans struct{ encoding.CodecV2 }

func (c sevenSpans) Unmarshal(_ mem.BufferSlice, v any) error {
	return c.CodecV2.Unmarshal(mem.BufferSlice{mem.SliceBuffer(emptySpans(7))}, v)
}

// TestEstimates: usual messages need at most 12 times their size, so that any message of 4 MiB
// fits.
func TestEstimates(t *testing.T) {
	traces := ptrace.NewTraces()
	spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for range 1000 {
		span := spans.AppendEmpty()
		span.SetName("GET /api/users")
		for _, key := range []string{"http.request.method", "url.full", "server.address", "thread.id", "code.function.name"} {
			span.Attributes().PutStr(key, "a value of usual length")
		}
	}
	encoded, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
	require.NoError(t, err)
	memory, err := signals["traces"].Estimate(encoded, math.MaxInt)
	require.NoError(t, err)
	assert.Less(t, memory, 8*len(encoded))
	files, err := filepath.Glob(filepath.Join(golden.Root(t), "internal", "profiles", "dialect", "testdata", "*", "*.pb"))
	require.NoError(t, err)
	for _, file := range files {
		encoded, err := os.ReadFile(file)
		require.NoError(t, err)
		memory, err := signals["profiles"].Estimate(encoded, math.MaxInt)
		require.NoError(t, err)
		assert.Less(t, memory, 12*len(encoded), file)
	}
}
