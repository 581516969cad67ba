// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/pyroscopetest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
)

// Sink is an OTLP/HTTP backend that stores messages undecoded.
type Sink struct {
	server *httptest.Server

	mu       sync.Mutex
	messages map[string][][]byte // by path, see ProfilesPath
	refuse   map[string]int      // status to answer instead of 200, by path
	hold     chan struct{}       // answer only after this is closed
	problems []string
	profiles [][]byte // to check at the end
	size     int      // of them
	check    func(t testing.TB, message []byte)
}

// maxChecked limits the profiles that a sink checks, in bytes. Only tests under load send more.
const maxChecked = 64 << 20

// NewSink starts a sink. The cleanup of the test closes it, and fails the test if a request was not
// OTLP/HTTP, if profiles were not valid OTLP, or if Pyroscope would reject them behind its preset.
func NewSink(t testing.TB) *Sink {
	s := &Sink{messages: map[string][][]byte{}, refuse: map[string]int{}, check: CheckForPyroscope}
	s.server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.server.Close()
		for _, problem := range s.problems {
			t.Error("OTLP request: " + problem)
		}
		for _, message := range s.profiles {
			s.check(t, message)
		}
	})
	return s
}

// Check replaces CheckForPyroscope, which checks each profiles message at the end of a test.
func (s *Sink) Check(check func(t testing.TB, message []byte)) { s.check = check }

// CheckForPyroscope fails a test if profiles are not valid OTLP, or if Pyroscope would reject them
// behind its preset.
func CheckForPyroscope(t testing.TB, message []byte) { pyroscopetest.Check(t, unmarshal(t, message)) }

// CheckOTLP fails a test if profiles are not valid OTLP. They may exceed the limits of Pyroscope.
func CheckOTLP(t testing.TB, message []byte) {
	require.Empty(t, dictionarytest.Violations(unmarshal(t, message)))
}

// Unchecked accepts any profiles, such as those of an older version of OTLP.
func Unchecked(testing.TB, []byte) {}

func unmarshal(t testing.TB, message []byte) pprofile.Profiles {
	profiles, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(message)
	require.NoError(t, err)
	return profiles
}

// URL returns the endpoint for an otlp_http exporter.
func (s *Sink) URL() string { return s.server.URL }

// ServeHTTP stores the message, or responds as Respond, RespondTo and Pause say.
func (s *Sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, problem := s.ReadRequest(r)
	s.mu.Lock()
	refuse, hold := s.refuse[r.URL.Path], s.hold
	switch {
	case problem != "":
		s.problems = append(s.problems, problem)
	case refuse == 0:
		s.messages[r.URL.Path] = append(s.messages[r.URL.Path], body)
		if r.URL.Path == ProfilesPath && s.size+len(body) <= maxChecked {
			s.profiles, s.size = append(s.profiles, body), s.size+len(body)
		}
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

// ReadRequest returns the message of a request, or why it is not OTLP/HTTP.
func (s *Sink) ReadRequest(r *http.Request) (body []byte, problem string) {
	if r.Method != http.MethodPost || !slices.Contains(allPaths, r.URL.Path) {
		return nil, r.Method + " " + r.URL.Path
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/x-protobuf" {
		return nil, "Content-Type " + kind
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the test has killed the collector
	}
	var reader io.Reader = bytes.NewReader(body)
	switch r.Header.Get("Content-Encoding") {
	case "gzip":
		unzip, err := gzip.NewReader(reader)
		if err != nil {
			return nil, err.Error()
		}
		reader = unzip
	case "zstd":
		unzip, err := zstd.NewReader(reader)
		if err != nil {
			return nil, err.Error()
		}
		defer unzip.Close()
		reader = unzip
	}
	if body, err = io.ReadAll(reader); err != nil {
		return nil, err.Error()
	}
	return body, ""
}

// Paths of the signals in OTLP/HTTP.
const (
	ProfilesPath = "/v1development/profiles"
	TracesPath   = "/v1/traces"
	LogsPath     = "/v1/logs"
	MetricsPath  = "/v1/metrics"
)

var allPaths = []string{ProfilesPath, TracesPath, LogsPath, MetricsPath}

// Drain removes and returns the stored messages of a signal.
func (s *Sink) Drain(path string) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.messages[path]
	delete(s.messages, path)
	return messages
}

// DrainProfiles removes and returns the stored profiles.
func (s *Sink) DrainProfiles() [][]byte { return s.Drain(ProfilesPath) }

// DrainAll removes and returns the stored messages of all signals, by path.
func (s *Sink) DrainAll() map[string][][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.messages
	s.messages = map[string][][]byte{}
	return messages
}

// Count returns the number of stored messages of a signal.
func (s *Sink) Count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.messages[path])
}

// Pause withholds every response until release is called.
func (s *Sink) Pause() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hold := make(chan struct{})
	s.hold = hold
	return sync.OnceFunc(func() { close(hold) })
}

// OneProfile removes and returns the only stored profiles message. It waits for the message, which
// symbolicate may hold.
func (s *Sink) OneProfile(t testing.TB) []byte {
	t.Helper()
	require.Eventually(t, func() bool { return s.Count(ProfilesPath) > 0 }, time.Minute, time.Millisecond, "message delivered")
	messages := s.DrainProfiles()
	require.Len(t, messages, 1, "messages delivered")
	return messages[0]
}

// Respond sets the status of all further responses; 0 = accept.
func (s *Sink) Respond(status int) {
	for _, path := range allPaths {
		s.RespondTo(path, status)
	}
}

// RespondTo sets the status of further responses to one signal; 0 = accept.
func (s *Sink) RespondTo(path string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse[path] = status
}

// OnlyLogRecord removes and returns the only stored log record, with the attributes of its
// resource.
func OnlyLogRecord(t *testing.T, backend *Sink) (resource map[string]any, record plog.LogRecord) {
	messages := backend.Drain(LogsPath)
	require.Len(t, messages, 1)
	request := plogotlp.NewExportRequest()
	require.NoError(t, request.UnmarshalProto(messages[0]))
	require.Equal(t, 1, request.Logs().LogRecordCount())
	all := request.Logs().ResourceLogs().At(0)
	return all.Resource().Attributes().AsRaw(), all.ScopeLogs().At(0).LogRecords().At(0)
}
