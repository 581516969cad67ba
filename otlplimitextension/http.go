// SPDX-License-Identifier: Apache-2.0

package otlplimitextension

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"go.opentelemetry.io/collector/extension/extensionmiddleware"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
)

// requestBytes is the memory of a request without its body. Over HTTP/2, a connection of a few
// bytes carries hundreds: 102 connections with 250 stalled requests each ended a collector with 1
// GiB.
const requestBytes = 32 << 10

var _ extensionmiddleware.HTTPServer = (*limiter)(nil)

// GetHTTPHandler implements extensionmiddleware.HTTPServer. The server has authenticated the
// client, and decompresses the body while it is read here.
func (l *limiter) GetHTTPHandler(context.Context) (extensionmiddleware.WrapHTTPHandlerFunc, error) {
	return func(_ context.Context, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			claim := l.claim(req.Context(), remote(req)).NeverWait()
			defer claim.Release()
			body, refused := l.read(req, claim)
			if refused != nil {
				if refused.reason == bytesInFlight {
					w.Header().Set("Retry-After", "1")
				}
				http.Error(w, refused.Error(), statuses[refused.reason])
				return
			}
			defer body.Release()
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body.Data)), int64(len(body.Data))
			next.ServeHTTP(w, req.WithContext(claim.NewContext(req.Context()))) // profile_dialect needs more
		}), nil
	}, nil
}

// statuses has the status of each reason. OTLP clients retry 503 only.
var statuses = map[string]int{
	messageTooLarge: http.StatusRequestEntityTooLarge,
	bytesInFlight:   http.StatusServiceUnavailable,
	undecodable:     http.StatusBadRequest,
	unreadable:      http.StatusBadRequest,
}

// read reads a body, once the claim holds the memory of the message.
func (l *limiter) read(req *http.Request, claim *httpbody.Claim) (*httpbody.Body, *rejection) {
	ctx := req.Context()
	if err := claim.Acquire(requestBytes); err != nil {
		return nil, l.reject(ctx, bytesInFlight, err)
	}
	claim.WaitAgain()
	body, err := httpbody.Read(req, math.MaxInt32, claim) // max_request_body_size is less
	switch {
	case errors.Is(err, httpbody.ErrTooLarge):
		return nil, l.reject(ctx, messageTooLarge, err)
	case errors.Is(err, httpbody.ErrNoMemory):
		return nil, l.reject(ctx, bytesInFlight, err)
	case err != nil:
		return nil, l.reject(ctx, unreadable, err)
	}
	if estimate := estimateOf(req); estimate != nil {
		if refused := l.admit(ctx, claim, estimate, body.Data); refused != nil {
			body.Release()
			return nil, refused
		}
	}
	return body, nil
}

// estimateOf returns the estimate of the message in a request, or nil if the receiver rejects its
// path or type.
func estimateOf(req *http.Request) func(encoded []byte, limit int) (int, error) {
	switch mediaType, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); mediaType {
	case "application/json":
		return otlpsize.EstimateJSON
	case "application/x-protobuf":
		// The last part of the path is that of the signal, also with traces_url_path.
		if message := signals[req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]]; message != nil {
			return message.Estimate
		}
		return largest
	}
	return nil
}

var signals = map[string]*otlpsize.Message{
	"traces": otlpsize.Traces, "logs": otlpsize.Logs, "metrics": otlpsize.Metrics, "profiles": otlpsize.Profiles,
}

// largest returns the largest estimate of all signals, for a configured path.
func largest(encoded []byte, limit int) (most int, err error) {
	valid := 0
	for _, message := range signals {
		if memory, damaged := message.Estimate(encoded, limit); damaged == nil {
			most = max(most, memory)
			valid++
		} else {
			err = damaged
		}
	}
	if valid > 0 {
		return most, nil
	}
	return 0, err
}

// remote returns the address of a client.
func remote(req *http.Request) net.Addr {
	address, err := netip.ParseAddrPort(req.RemoteAddr)
	if err != nil {
		return nil // a Unix socket
	}
	return net.TCPAddrFromAddrPort(address)
}
