// SPDX-License-Identifier: Apache-2.0

package otlplimitextension

import (
	"context"
	"errors"
	"fmt"
	"net"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	"google.golang.org/grpc/encoding"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/otlplimitextension"

// limiter is the extension.
type limiter struct {
	component.ShutdownFunc

	max      int64
	budget   *httpbody.Budget
	codec    encoding.CodecV2 // decodes the messages of gRPC
	logger   *zap.Logger
	rejected metric.Int64Counter
}

func newLimiter(cfg *Config, set component.TelemetrySettings) (*limiter, error) {
	meter := collector.NewMeter(set, scopeName)
	inFlight := meter.UpDownCounter("otelcol_extension_otlp_limit_bytes_in_flight", "By", "Memory that is reserved for requests.")
	l := &limiter{
		max: cfg.MaxBytesInFlight, logger: collector.LimitLogs(set.Logger), codec: encoding.GetCodecV2("proto"),
		budget:   httpbody.NewBudget(cfg.MaxBytesInFlight, func(ctx context.Context, delta int64) { inFlight.Add(ctx, delta) }),
		rejected: meter.Counter("otelcol_extension_otlp_limit_requests_rejected", "{request}", "Number of rejected requests, by reason."),
	}
	if err := meter.Err(); err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return l, nil
}

// Reasons of rejected requests.
const (
	messageTooLarge = "message_too_large"
	bytesInFlight   = "bytes_in_flight"
	undecodable     = "body_undecodable"
	unreadable      = "body_unreadable"
)

// rejection is the error of a request.
type rejection struct {
	reason string
	error
}

// reject counts a rejected request and returns its error.
func (l *limiter) reject(ctx context.Context, reason string, err error) *rejection {
	l.rejected.Add(context.WithoutCancel(ctx), 1, metric.WithAttributes(attribute.String("reason", reason)))
	l.logger.Warn("OTLP request rejected", zap.String("reason", reason), zap.Error(err))
	return &rejection{reason, err}
}

// claim returns an empty claim of a client. Clients of the same address share the budget.
func (l *limiter) claim(ctx context.Context, client net.Addr) *httpbody.Claim {
	c := l.budget.Claim(ctx)
	c.SetTenant(httpserver.Peer(client).String())
	return c
}

// rawCopies is the number of copies of an encoded message: the receiver reads it into a buffer that
// grows.
const rawCopies = 2

// admit claims the memory of a decoded message, before it is decoded.
func (l *limiter) admit(ctx context.Context, c *httpbody.Claim, estimate func(encoded []byte, limit int) (int, error), encoded []byte) *rejection {
	memory, err := estimate(encoded, int(l.max))
	need := int64(memory) + rawCopies*int64(len(encoded))
	switch {
	case errors.Is(err, otlpsize.ErrDamaged):
		return l.reject(ctx, undecodable, fmt.Errorf("cannot decode the message: %w", err))
	case err != nil:
		return l.reject(ctx, messageTooLarge, fmt.Errorf("cannot decode the message: %w", err))
	case need > l.max-receivingBytes:
		return l.reject(ctx, messageTooLarge, fmt.Errorf("the message needs more memory than max_bytes_in_flight permits (%d MiB); send smaller messages", (l.max-receivingBytes)>>20))
	}
	if err := c.Acquire(need); err != nil {
		return l.reject(ctx, bytesInFlight, err)
	}
	return nil
}
