// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
)

// client sends requests to the API.
type client struct{ api http.Handler }

// get returns the body of a response. The error contains a text for the user.
func (c *client) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/api/"+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	response := recorder{header: http.Header{}}
	c.api.ServeHTTP(&response, r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if response.status != http.StatusOK {
		var failure struct{ Error string }
		if json.Unmarshal(response.body.Bytes(), &failure) != nil || failure.Error == "" {
			failure.Error = http.StatusText(response.status)
		}
		return nil, errors.New(failure.Error)
	}
	return response.body.Bytes(), nil
}

// recorder is a response in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
