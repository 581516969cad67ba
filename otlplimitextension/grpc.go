// SPDX-License-Identifier: Apache-2.0

package otlplimitextension

import (
	"context"
	"errors"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/extensionmiddleware"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
)

const (
	// receivingBytes is the memory of a message that is received: the default maximum of gRPC.
	// gRPC does not report how many bytes have arrived.
	receivingBytes = 4 << 20

	// maxHeaderBytes is enough for any exporter. The default of gRPC is 16 MiB, of which a client
	// sends a thirtieth: 64 calls ended a collector with 1 GiB.
	maxHeaderBytes = 64 << 10

	// receivingTime is the maximum time to receive a message of 4 MiB, at 3.4 Mbit/s.
	receivingTime = 10 * time.Second
)

var _ extensionmiddleware.GRPCServer = (*limiter)(nil)

// GetGRPCServerOptions implements extensionmiddleware.GRPCServer. A call goes through:
//
//	tap          claims memory to receive the message, before a byte of it arrives
//	codec        keeps the encoded message instead of decoding it
//	interceptor  runs after the authentication: claims the memory of the message and decodes it
//	stats        drops an encoded message that the authentication rejects
func (l *limiter) GetGRPCServerOptions(context.Context) ([]grpc.ServerOption, error) {
	return newServer(l).options(), nil
}

func newServer(l *limiter) *server {
	return &server{limiter: l, kept: &kept{CodecV2: l.codec, messages: map[any]mem.Buffer{}}, receivingTime: receivingTime}
}

func (s *server) options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxHeaderListSize(maxHeaderBytes), grpc.InTapHandle(s.tap), grpc.ForceServerCodecV2(s.kept), grpc.StatsHandler(s), grpc.ChainUnaryInterceptor(s.intercept),
	}
}

// ServerCodec is implemented by extensions that change messages, such as profile_dialect: a server
// of gRPC has one codec.
type ServerCodec interface{ ServerCodec() encoding.CodecV2 }

// Start implements component.Component.
func (l *limiter) Start(_ context.Context, host component.Host) error {
	for _, extension := range host.GetExtensions() {
		if other, ok := extension.(ServerCodec); ok {
			l.codec = other.ServerCodec()
		}
	}
	return nil
}

// server limits a gRPC server.
type server struct {
	*limiter
	kept          *kept
	receivingTime time.Duration
}

// call is the state of a call in its context.
type call struct {
	claim    *httpbody.Claim
	received *time.Timer // cancels the call unless the message is received in time
	began    atomic.Bool // End will follow
	message  any
}

type callKey struct{}

// tap is called before a call is accepted. It must not block.
func (s *server) tap(ctx context.Context, _ *tap.Info) (context.Context, error) {
	var client net.Addr
	if p, ok := peer.FromContext(ctx); ok {
		client = p.Addr
	}
	c := &call{claim: s.claim(ctx, client).NeverWait()}
	if err := c.claim.Acquire(receivingBytes); err != nil {
		return ctx, status.Error(codes.Unavailable, s.reject(ctx, bytesInFlight, err).Error())
	}
	ctx, cancel := context.WithCancel(context.WithValue(ctx, callKey{}, c))
	c.received = time.AfterFunc(s.receivingTime, cancel)
	context.AfterFunc(ctx, func() {
		c.received.Stop()
		if !c.began.Load() { // gRPC has rejected the call
			c.claim.Release()
		}
	})
	return ctx, nil
}

// TagRPC, TagConn and HandleConn implement stats.Handler.
func (s *server) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (s *server) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (s *server) HandleConn(context.Context, stats.ConnStats)                       {}

// HandleRPC implements stats.Handler.
func (s *server) HandleRPC(ctx context.Context, event stats.RPCStats) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	switch event := event.(type) {
	case *stats.Begin:
		c.began.Store(true)
	case *stats.InPayload:
		c.received.Stop()
		c.message = event.Payload
	case *stats.End:
		if encoded := s.kept.take(c.message); encoded != nil {
			encoded.Free()
		}
		c.claim.Release()
	}
}

// intercept decodes the message of a call.
func (s *server) intercept(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	encoded := s.kept.take(req)
	if encoded == nil {
		return next(ctx, req)
	}
	defer encoded.Free()
	claim := ctx.Value(callKey{}).(*call).claim.WaitAgain() // tap has set it
	if refused := s.admit(ctx, claim, messageOf(req).Estimate, encoded.ReadOnlyData()); refused != nil {
		return nil, status.Error(grpcStatuses[refused.reason], refused.Error())
	}
	if err := s.decode(mem.BufferSlice{encoded}, req, claim); err != nil {
		reason := undecodable
		if errors.Is(err, httpbody.ErrNoMemory) {
			reason = bytesInFlight
		}
		return nil, status.Error(grpcStatuses[reason], s.reject(ctx, reason, err).Error())
	}
	return next(ctx, req)
}

// decode decodes a message. A codec that translates it needs more memory.
func (s *server) decode(encoded mem.BufferSlice, req any, claim *httpbody.Claim) error {
	if codec, ok := s.kept.CodecV2.(LimitedCodec); ok {
		return codec.UnmarshalWithin(encoded, req, func(bytes int) error { return claim.Acquire(int64(bytes)) })
	}
	return s.kept.CodecV2.Unmarshal(encoded, req)
}

// LimitedCodec is implemented by codecs of other extensions that need memory for a translation.
type LimitedCodec interface {
	UnmarshalWithin(data mem.BufferSlice, message any, reserve func(bytes int) error) error
}

// grpcStatuses has the status of each reason. OTLP clients retry Unavailable only.
var grpcStatuses = map[string]codes.Code{
	messageTooLarge: codes.ResourceExhausted, bytesInFlight: codes.Unavailable, undecodable: codes.InvalidArgument,
}

// kept is a codec that keeps the encoded messages of requests.
type kept struct {
	encoding.CodecV2

	mu       sync.Mutex
	messages map[any]mem.Buffer // by the pointer to the message
}

// Unmarshal implements encoding.CodecV2.
func (k *kept) Unmarshal(data mem.BufferSlice, message any) error {
	if messageOf(message) == nil {
		return k.CodecV2.Unmarshal(data, message)
	}
	encoded := data.MaterializeToBuffer(mem.DefaultBufferPool())
	k.mu.Lock()
	defer k.mu.Unlock()
	if former := k.messages[message]; former != nil {
		former.Free() // a second message in a call that permits one
	}
	k.messages[message] = encoded
	return nil
}

// take removes the encoded form of a message and returns it, or nil.
func (k *kept) take(message any) mem.Buffer {
	k.mu.Lock()
	defer k.mu.Unlock()
	encoded := k.messages[message]
	delete(k.messages, message)
	return encoded
}

// messageOf returns the sizes of a request. Its type is internal to the collector.
func messageOf(message any) *otlpsize.Message {
	name := reflect.TypeOf(message).String()
	return requests[name[strings.LastIndexByte(name, '.')+1:]]
}

var requests = map[string]*otlpsize.Message{
	"ExportTraceServiceRequest": otlpsize.Traces, "ExportLogsServiceRequest": otlpsize.Logs,
	"ExportMetricsServiceRequest": otlpsize.Metrics, "ExportProfilesServiceRequest": otlpsize.Profiles,
}
