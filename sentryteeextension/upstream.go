// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpclient"
)

// upstream is the HTTP client for Sentry. It uses the client's transport directly, because it needs
// neither redirects nor cookies.
type upstream struct {
	client *http.Client
	base   *url.URL // of projects that are not mapped
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
		transport.MaxIdleConns = max(transport.MaxIdleConns, cfg.NumConsumers)
		transport.ResponseHeaderTimeout = cfg.HTTP.Timeout
	})
	if err != nil {
		return nil, err
	}
	return &upstream{client: client, base: base}, nil
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
	return u.client.Transport.RoundTrip(req)
}

// post sends a request and reads the response, within the timeout.
func (u *upstream) post(ctx context.Context, r *request) (reply, time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, u.client.Timeout)
	defer cancel()
	req, err := r.toHTTP(ctx, u.base)
	if err != nil {
		return reply{verdict: refused, reason: reasonInvalid, err: err}, 0
	}
	began := time.Now()
	resp, err := u.client.Transport.RoundTrip(req)
	if err != nil {
		return reply{verdict: failed, reason: reasonNetwork, err: err}, time.Since(began)
	}
	answer := readReply(resp)
	return answer, time.Since(began)
}
