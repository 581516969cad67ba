// SPDX-License-Identifier: Apache-2.0

// Package fakesentry contains an HTTP server for tests that replaces Sentry's ingest, and the rules
// that ingest applies after its response (Verdict). The server has Relay's checks before the
// response (credentials, framing, sizes). Tests set its responses.
package fakesentry

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// The project and the key that the server knows.
const (
	ProjectID = "42"
	PublicKey = "0123456789abcdef0123456789abcdef"
)

// Server stores every accepted envelope.
type Server struct {
	url string

	mu        sync.Mutex
	answer    func(*Request) Answer
	requests  []*Request
	envelopes []*sentry.Envelope // answered with 2xx, or accepted although the answer was lost
}

// Request is an envelope that has arrived.
type Request struct {
	Number   int    // from 1
	Client   string // the address, which is different for each connection
	Header   http.Header
	Envelope *sentry.Envelope
	At       time.Time
}

// Answer is a response; the zero value is 200.
type Answer struct {
	Status int
	Header map[string]string
	Delay  time.Duration // before the answer
	Reset  bool          // the connection is cut instead of an answer
	Taken  bool          // the envelope is kept although the status or the cut connection says otherwise
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// DSN is the address of the server's one project.
func (s *Server) DSN() string {
	return strings.Replace(s.url, "://", "://"+PublicKey+"@", 1) + "/" + ProjectID
}

// Answer sets how requests are answered from now on; nil is 200.
func (s *Server) Answer(answer func(*Request) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Requests returns all received envelopes, accepted or not.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// Taken returns the accepted envelopes.
func (s *Server) Taken() []*sentry.Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*sentry.Envelope(nil), s.envelopes...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	envelope, status, detail := read(r)
	if status != http.StatusOK {
		refuse(w, status, detail)
		return
	}
	request, answer := s.arrived(r, envelope)
	time.Sleep(answer.Delay)
	if answer.Status == 0 {
		answer.Status = http.StatusOK
	}
	if answer.Taken || !answer.Reset && answer.Status < 300 {
		s.take(request.Envelope)
	}
	if answer.Reset {
		panic(http.ErrAbortHandler)
	}
	for name, value := range answer.Header {
		w.Header().Set(name, value)
	}
	if answer.Status >= 300 {
		refuse(w, answer.Status, "as the test says")
		return
	}
	w.WriteHeader(answer.Status)
	fmt.Fprintf(w, `{"id":%q}`, envelope.Header.EventID)
}

func (s *Server) arrived(r *http.Request, envelope *sentry.Envelope) (*Request, Answer) {
	s.mu.Lock()
	request := &Request{Number: len(s.requests) + 1, Client: r.RemoteAddr, Header: r.Header, Envelope: envelope, At: time.Now()}
	s.requests = append(s.requests, request)
	answer := s.answer
	s.mu.Unlock()
	if answer == nil {
		return request, Answer{}
	}
	return request, answer(request)
}

func (s *Server) take(envelope *sentry.Envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.envelopes = append(s.envelopes, envelope)
}

// read applies the checks of Relay before its response (relay-server/src/endpoints/envelope.rs).
func read(r *http.Request) (e *sentry.Envelope, status int, detail string) {
	if r.Method != http.MethodPost || r.URL.Path != "/api/"+ProjectID+"/envelope/" {
		return nil, http.StatusNotFound, "no such endpoint"
	}
	auth := r.Header.Get("X-Sentry-Auth")
	if auth == "" && r.URL.Query().Has("sentry_key") { // SDKs for JavaScript
		auth = "Sentry " + r.URL.RawQuery
	}
	switch {
	case auth == "":
		return nil, http.StatusUnauthorized, "missing authorization information"
	case !strings.HasPrefix(auth, "Sentry ") || !strings.Contains(auth, "sentry_version=7") || !strings.Contains(auth, "sentry_key="+PublicKey):
		return nil, http.StatusForbidden, "event submission rejected with_reason: ProjectId"
	}
	body, err := inflate(r)
	if err != nil {
		return nil, http.StatusBadRequest, "invalid body"
	}
	e, err = sentry.ReadEnvelope(body)
	if err != nil {
		return nil, http.StatusBadRequest, "invalid event envelope"
	}
	for i := range e.Items {
		if len(e.Items[i].Payload) > maxSize(e.Items[i].Header.Type) {
			return nil, http.StatusRequestEntityTooLarge, "envelope exceeded size limits"
		}
	}
	return e, http.StatusOK, ""
}

// maxSize returns the limit of ingest (relay-config/src/config.rs,
// relay-server/src/utils/sizes.rs).
func maxSize(kind sentry.ItemType) int {
	switch kind {
	case sentry.ItemEvent, sentry.ItemTransaction, sentry.ItemFeedback:
		return 1 << 20
	case sentry.ItemCheckIn, sentry.ItemClientReport:
		return 100 << 10
	case sentry.ItemSession, sentry.ItemSessions:
		return 10 << 20
	case sentry.ItemSpan, sentry.ItemLog, sentry.ItemTraceMetric:
		return 12 << 20
	case sentry.ItemProfile, sentry.ItemProfileChunk:
		return 50 << 20
	}
	return 200 << 20 // attachments and user reports
}

func inflate(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
		return body, err
	}
	inflated, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(inflated)
}

func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"detail":%q}`, detail)
}
