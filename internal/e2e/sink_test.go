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
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
)

// sink is an OTLP/HTTP backend. It answers at once and leaves the decoding to the test.
type sink struct {
	server *httptest.Server

	mu       sync.Mutex
	messages [][]byte            // profiles
	others   map[string][][]byte // messages of the other signals by their path
	refusals int
	refuse   int           // status to answer instead of 200
	hold     chan struct{} // answer only after this is closed
	problems []string
}

func newSink(t testing.TB) *sink {
	s := &sink{}
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
	refuse, hold := s.refuse, s.hold
	switch {
	case problem != "":
		s.problems = append(s.problems, problem)
	case refuse != 0:
		s.refusals++
	case r.URL.Path == profilesPath:
		s.messages = append(s.messages, body)
	default:
		if s.others == nil {
			s.others = map[string][][]byte{}
		}
		s.others[r.URL.Path] = append(s.others[r.URL.Path], body)
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
		ok, _ := pprofileotlp.NewExportResponse().MarshalProto()
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(ok)
	}
}

func (s *sink) read(r *http.Request) (body []byte, problem string) {
	if r.Method != http.MethodPost || !slices.Contains([]string{profilesPath, tracesPath, logsPath, metricsPath}, r.URL.Path) {
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

// takeFrom gives the messages of another signal than profiles that have come since the last takeFrom.
func (s *sink) takeFrom(path string) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.others[path]
	delete(s.others, path)
	return messages
}

// take gives the profiles that have come since the last take.
func (s *sink) take() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.messages
	s.messages = nil
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = status
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
