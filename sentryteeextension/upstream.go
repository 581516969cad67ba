// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpclient"
)

// upstream is the HTTP client for Sentry.
type upstream struct {
	client    *http.Client
	streaming *http.Client // has no timeout for whole requests
	base      *url.URL     // of projects that are not mapped
}

// newUpstream returns the client of a valid configuration.
func newUpstream(ctx context.Context, cfg *Config, host component.Host, set component.TelemetrySettings) (*upstream, error) {
	base, err := url.Parse(cfg.Upstream)
	if err != nil {
		return nil, err
	}
	set.TracerProvider = nil // otherwise, confighttp adds trace headers that the SDK did not send
	client, err := httpclient.New(ctx, cfg.HTTP, host.GetExtensions(), set, func(transport *http.Transport) {
		transport.DisableCompression = true // otherwise, the transport decompresses responses that the client requested compressed
		transport.MaxIdleConnsPerHost = cfg.NumConsumers
		transport.MaxIdleConns = max(transport.MaxIdleConns, cfg.NumConsumers)
		transport.ResponseHeaderTimeout = cfg.HTTP.Timeout
	})
	if err != nil {
		return nil, err
	}
	streaming := *client
	streaming.Timeout = 0
	return &upstream{client: client, streaming: &streaming, base: base}, nil
}

// stream sends a request while its body arrives. The caller closes the response.
func (u *upstream) stream(ctx context.Context, r *request, from *http.Request) (*http.Response, error) {
	req, err := r.toHTTP(ctx, u.base)
	if err != nil {
		return nil, err
	}
	req.Body, req.GetBody, req.ContentLength = from.Body, nil, from.ContentLength
	if from.ContentLength == 0 {
		req.Body = http.NoBody
	}
	resp, err := u.streaming.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	return resp, nil
}

// post sends a request and reads the response.
func (u *upstream) post(ctx context.Context, r *request) (reply, time.Duration) {
	req, err := r.toHTTP(ctx, u.base)
	if err != nil {
		return reply{verdict: refused, reason: reasonInvalid, err: err}, 0
	}
	began := time.Now()
	resp, err := u.client.Do(req)
	if err != nil {
		return reply{verdict: failed, reason: reasonNetwork, err: withoutURL(err)}, time.Since(began)
	}
	answer := readReply(resp)
	return answer, time.Since(began)
}

// withoutURL removes the URL from an error of a client: its query may contain the key of a project.
func withoutURL(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}
