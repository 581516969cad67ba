// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxRequest is the maximum size of a request: enough for the arguments of a tool.
const maxRequest = 64 << 10

// Handler is the endpoint. It is stateless: clients use no memory between their requests, and have
// no streams. It builds one response at a time, in memory.
type Handler struct {
	server   http.Handler
	sending  func(w http.ResponseWriter, r *http.Request, size int64) (done func())
	building chan struct{}
}

// NewHandler returns an endpoint that sends requests to an API. It calls sending before it sends a
// response, and done after it.
func NewHandler(api http.Handler, version string, sending func(w http.ResponseWriter, r *http.Request, size int64) (done func())) *Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "profile_viewer", Title: "Profile viewer", Version: version}, &mcp.ServerOptions{
		Instructions: "Profiles, traces, logs and errors of the latest minutes, as shown by the viewer. Start with services or traces; " +
			"then use hottest_functions for a profile or a span. " + Notice,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the default has logging, which clients would configure
	})
	server.AddReceivingMiddleware(onlySupported)
	addTools(server, &client{api})
	return &Handler{
		server: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
			DisableLocalhostProtection: true, // the viewer checks hosts: see allowed_hosts
		}),
		sending:  sending,
		building: make(chan struct{}, 1),
	}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, fmt.Sprintf("cannot read the request: %v", err), http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(request))
	response := recorder{header: w.Header(), status: http.StatusOK}
	if !h.build(&response, r) {
		return
	}
	defer h.sending(w, r, int64(response.body.Len()))()
	w.WriteHeader(response.status)
	_, _ = w.Write(response.body.Bytes()) // an error means that the client disconnected
}

// build builds the response after those of earlier requests. It returns false if the client
// disconnects first.
func (h *Handler) build(response *recorder, r *http.Request) bool {
	select {
	case h.building <- struct{}{}:
	case <-r.Context().Done():
		return false
	}
	defer func() { <-h.building }() // also after a panic
	h.server.ServeHTTP(response, r)
	return true
}

// supported are the methods of servers that have only tools. Subscriptions would hold a connection.
var supported = []string{
	"initialize", "server/discover", "ping", "tools/list", "tools/call", "notifications/initialized", "notifications/cancelled",
}

func onlySupported(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if !slices.Contains(supported, method) {
			return nil, fmt.Errorf("method %q is not supported", method)
		}
		return next(ctx, method, r)
	}
}
