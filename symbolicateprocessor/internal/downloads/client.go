// SPDX-License-Identifier: Apache-2.0

package downloads

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpclient"
)

// client sends requests to allowed hosts.
type client struct {
	http  http.Client
	hosts *hosts
}

// maxRedirects is the maximum number of redirects of a file: one to a CDN, and one to a region of
// it.
const maxRedirects = 3

func newTransport() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = httpclient.MaxAnswerHeaders
	return transport
}

func newClient(transport *http.Transport, allowed *hosts, timeout time.Duration) *client {
	c := &client{hosts: allowed}
	c.http = http.Client{Transport: transport, Timeout: timeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if !allowed.allow(r.URL) {
			return fmt.Errorf("redirect to %s: %w", r.URL.Host, errForbidden)
		}
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return nil
	}}
	return c
}

// save stores the file at a URL under a name, and returns the response without its body. limit
// applies to the decompressed file.
func (c *client) save(ctx context.Context, store *filestore.Store, url, name string, limit int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	if !c.hosts.allow(request.URL) {
		return nil, fmt.Errorf("%s: %w", request.URL.Host, errForbidden)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return nil, errNotFound
	default:
		return nil, fmt.Errorf("the server responds with %s", response.Status)
	}
	stored, err := store.Save(name, response.Body, limit)
	if err != nil {
		return nil, err
	}
	if isPage(stored.Head) {
		return nil, fmt.Errorf("the server responds with a page: %w", errNotFound)
	}
	return response, nil
}

// isPage reports whether a file starts like HTML: single-page applications respond with their page
// to all unknown paths, with status 200.
func isPage(head []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) }
