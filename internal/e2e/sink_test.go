// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
)

// sink is an OTLP/HTTP backend. It answers at once and leaves the decoding to the test.
type sink struct {
	server *httptest.Server

	mu       sync.Mutex
	messages map[string][][]byte // by the path of their signal
	refusals int
	refuse   map[string]int // status to answer instead of 200, by path
	hold     chan struct{}  // answer only after this is closed
	problems []string
}

func newSink(t testing.TB) *sink {
	s := &sink{messages: map[string][][]byte{}, refuse: map[string]int{}}
	s.server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.server.Close()
		for _, problem := range s.problems {
			t.Error("OTLP request: " + problem)
		}
	})
	return s
}

func (s *sink) url() string { return s.server.URL }

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, problem := s.read(r)
	s.mu.Lock()
	refuse, hold := s.refuse[r.URL.Path], s.hold
	switch {
	case problem != "":
		s.problems = append(s.problems, problem)
	case refuse != 0:
		s.refusals++
	default:
		s.messages[r.URL.Path] = append(s.messages[r.URL.Path], body)
	}
	s.mu.Unlock()

	if hold != nil {
		<-hold
	}
	switch {
	case problem != "":
		http.Error(w, problem, http.StatusBadRequest)
	case refuse != 0:
		w.WriteHeader(refuse)
	default:
		w.Header().Set("Content-Type", "application/x-protobuf") // an answer without fields, whatever the signal
	}
}

func (s *sink) read(r *http.Request) (body []byte, problem string) {
	if r.Method != http.MethodPost || !slices.Contains(allPaths, r.URL.Path) {
		return nil, r.Method + " " + r.URL.Path
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/x-protobuf" {
		return nil, "Content-Type " + kind
	}
	var reader io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzip, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err.Error()
		}
		reader = unzip
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return nil, err.Error()
	}
	return body, ""
}

// Where OTLP/HTTP puts the signals.
const (
	profilesPath = "/v1development/profiles"
	tracesPath   = "/v1/traces"
	logsPath     = "/v1/logs"
	metricsPath  = "/v1/metrics"
)

var allPaths = []string{profilesPath, tracesPath, logsPath, metricsPath}

// takeFrom gives the messages of a signal that have come since they were last taken.
func (s *sink) takeFrom(path string) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.messages[path]
	delete(s.messages, path)
	return messages
}

// take gives the profiles.
func (s *sink) take() [][]byte { return s.takeFrom(profilesPath) }

// takeAll gives the messages of all signals by their path.
func (s *sink) takeAll() map[string][][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.messages
	s.messages = map[string][][]byte{}
	return messages
}

// takeOne expects exactly one.
func (s *sink) takeOne(t testing.TB) []byte {
	t.Helper()
	messages := s.take()
	require.Len(t, messages, 1, "messages delivered")
	return messages[0]
}

// answer sets what the backend says from now on; 0 = yes.
func (s *sink) answer(status int) {
	for _, path := range allPaths {
		s.answerFor(path, status)
	}
}

// answerFor sets it for one signal.
func (s *sink) answerFor(path string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse[path] = status
}

// onlyRecord is the one log record that was delivered, and its resource.
func onlyRecord(t *testing.T, backend *sink) (resource map[string]any, record plog.LogRecord) {
	messages := backend.takeFrom(logsPath)
	require.Len(t, messages, 1)
	request := plogotlp.NewExportRequest()
	require.NoError(t, request.UnmarshalProto(messages[0]))
	require.Equal(t, 1, request.Logs().LogRecordCount())
	all := request.Logs().ResourceLogs().At(0)
	return all.Resource().Attributes().AsRaw(), all.ScopeLogs().At(0).LogRecords().At(0)
}
