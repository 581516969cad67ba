// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/mapping"
)

// request is a request for Sentry, byte for byte as the client sent it.
type request struct {
	Method   string
	Target   string      // path and query, from /api on
	Header   http.Header // from upstreamHeader
	Received time.Time
	Endpoint string // metric attribute
	Project  string // decimal
	Key      string // public key
	Body     []byte `json:"-"`

	Losses []event.LostEvents `json:",omitempty"` // of a report by the tee

	base *url.URL // server of a mapped project; nil = the upstream
}

// requestOverhead is the memory of a request in addition to its headers and its body.
const requestOverhead = 1 << 10

// size returns the memory of a request without its body.
func (r *request) size() int64 {
	size := requestOverhead + len(r.Target)
	for name, values := range r.Header {
		size += len(name)
		for _, value := range values {
			size += len(value)
		}
	}
	return int64(size)
}

func (r *request) key() key { return key{r.Project, r.Key} }

// keyOrNone returns the key of a request. For a request that is only in storage, it is empty; such
// a request has no omitted data.
func (r *request) keyOrNone() key {
	if r == nil {
		return key{}
	}
	return r.key()
}

// mappedTo returns the request with the destination's project and key in path, query and headers.
// For an envelope, see mapping.Destination.EnvelopeEdits.
func (r *request) mappedTo(d *mapping.Destination) *request {
	if !d.IsMapped() {
		return r
	}
	changed := *r
	changed.base = d.Base
	changed.Target = d.Target(r.Target, r.Key)
	changed.Header = d.Header(r.Header, r.Key)
	return &changed
}

// toHTTP returns the HTTP request for the server at base.
func (r *request) toHTTP(ctx context.Context, base *url.URL) (*http.Request, error) {
	if r.base != nil {
		base = r.base
	}
	u, err := targetURL(base, r.Target)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, "", bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.URL = u // not parsed from a string, which could be escaped differently
	req.Header = r.Header
	return req, nil
}

// targetURL returns the URL of a path and query at the server base. The target cannot select
// another server.
func targetURL(base *url.URL, target string) (*url.URL, error) {
	u, err := url.ParseRequestURI(target)
	if err != nil || !strings.HasPrefix(target, "/") {
		return nil, errTarget
	}
	prefix := strings.TrimRight(base.EscapedPath(), "/")
	u.RawPath = prefix + u.EscapedPath()
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return nil, errTarget
	}
	u.Scheme, u.Host = base.Scheme, base.Host
	return u, nil
}
