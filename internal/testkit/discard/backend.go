// SPDX-License-Identifier: Apache-2.0

// Package discard is a backend for measurements of the collector.
package discard

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // the default of otlp_grpc
)

// Backend accepts, counts and drops Sentry's requests, OTLP over HTTP, and profiles over gRPC.
type Backend struct {
	URL  string // of the HTTP server
	GRPC string // host:port

	http     *httptest.Server
	grpc     *grpc.Server
	requests atomic.Int64
}

// maxMessage is above the size of any profile of the benchmarks.
const maxMessage = 64 << 20

// Start starts a backend on free ports of the loopback interface.
func Start() (*Backend, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Backend{GRPC: listener.Addr().String(), grpc: grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage))}
	b.http = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body) // a request that breaks off counts too
		b.requests.Add(1)
	}))
	b.URL = b.http.URL
	pprofileotlp.RegisterGRPCServer(b.grpc, &profiles{requests: &b.requests})
	go func() { _ = b.grpc.Serve(listener) }() // returns when the server stops
	return b, nil
}

// Close stops the servers.
func (b *Backend) Close() {
	b.http.Close()
	b.grpc.Stop()
}

// Requests returns the number of requests so far.
func (b *Backend) Requests() int64 { return b.requests.Load() }

// Settings replaces HTTP, GRPC and DSN in settings of exporters with the addresses of the backend.
func (b *Backend) Settings(settings string) string {
	dsn := strings.Replace(b.URL, "http://", "http://8f3d1c0a9b7e4d52a1c6f0e3b2d49871@", 1) + "/4507"
	return strings.NewReplacer("'HTTP'", "'"+b.URL+"'", "'GRPC'", "'"+b.GRPC+"'", "'DSN'", "'"+dsn+"'").Replace(settings)
}

type profiles struct {
	pprofileotlp.UnimplementedGRPCServer
	requests *atomic.Int64
}

func (p *profiles) Export(context.Context, pprofileotlp.ExportRequest) (pprofileotlp.ExportResponse, error) {
	p.requests.Add(1)
	return pprofileotlp.NewExportResponse(), nil
}
