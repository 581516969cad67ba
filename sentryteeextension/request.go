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
)

// request is one for Sentry: what a client sent, byte for byte.
type request struct {
	Method   string
	Target   string      // path and query, from /api on
	Header   http.Header // upstreamHeader's
	Received time.Time
	Endpoint string // metric attribute
	Project  string // decimal
	Key      string // public key
	Body     []byte `json:"-"`

	Losses []event.LostEvents `json:",omitempty"` // of a report of the tee

	base *url.URL // of a mapped project's server; nil = the upstream
}

// requestOverhead is what a request takes in memory beside its headers and its body.
const requestOverhead = 1 << 10

// size is the memory of a request without its body.
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

// keyOrNone is the key of a request that may be in the storage only, where nothing of it was omitted yet.
func (r *request) keyOrNone() key {
	if r == nil {
		return key{}
	}
	return r.key()
}

// toHTTP makes a request to the server at base.
func (r *request) toHTTP(ctx context.Context, base *url.URL) (*http.Request, error) {
	if r.base != nil {
		base = r.base
	}
	u, err := targetURL(base, r.Target)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.URL = u // as it is, where String would escape it in another way
	req.Header = r.Header
	return req, nil
}

// targetURL is the address of a path and query at a server. Only base says which server.
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
