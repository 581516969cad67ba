// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
)

// Options configure a server.
type Options struct {
	Token string // that clients must send
	// MaxFileBytes is the maximum size of a script, source map or R8 mapping, MaxNativeBytes that
	// of a native file.
	MaxFileBytes, MaxNativeBytes int64
	// Count counts a file, an archive or a rejected request, by outcome.
	Count func(Outcome)
	// ReadBody reads the body of a request of at most limit bytes, and reserves memory: ratio times
	// its size in addition. done releases both. The error is ErrNoMemory if requests use too much
	// memory.
	ReadBody func(r *http.Request, limit, ratio int64) (body []byte, done func(), err error)
	// Stored is called after a file has been stored.
	Stored func()
}

// ErrNoMemory is the error of Options.ReadBody if requests use too much memory.
var ErrNoMemory = errors.New("too many requests; try again later")

// Outcome is the result of an upload.
type Outcome string

const (
	Stored       Outcome = "stored"
	Known        Outcome = "known"        // the file is already stored
	Rejected     Outcome = "rejected"     // the response states the reason
	Failed       Outcome = "failed"       // the disk is full or broken
	Unauthorized Outcome = "unauthorized" // without the token
)

// Server answers sentry-cli.
type Server struct {
	store *filestore.Store
	Options
	mux       *http.ServeMux
	running   chan struct{} // requests that store files
	unpacking chan struct{} // one archive at a time: its list of files is in memory
}

const (
	// chunkSize and the values below are Sentry's: the client splits files accordingly.
	chunkSize        = 8 << 20
	chunksPerRequest = 64
	maxRequestSize   = 32 << 20
	concurrency      = 8

	// MaxBodyBytes is the maximum size of a request body: the client's limit counts the compressed
	// chunks, but not the headers of their parts.
	MaxBodyBytes = maxRequestSize + chunkSize + 1<<20

	// maxDescription is the maximum size of an assemble request: a file of 4 GiB has 512 chunks,
	// which take 43 bytes each.
	maxDescription = 2 << 20

	// decodedRatio is the memory of a decoded request of short texts, relative to its size.
	decodedRatio = 8

	// maxRunning is the maximum number of requests that store files, of all clients together.
	// Others wait.
	maxRunning = 64
)

// NewServer returns a server that stores files in a store.
func NewServer(store *filestore.Store, options Options) *Server {
	s := &Server{
		store: store, Options: options, mux: http.NewServeMux(),
		running: make(chan struct{}, maxRunning), unpacking: make(chan struct{}, 1),
	}
	s.mux.HandleFunc("GET /api/0/organizations/{org}/chunk-upload/{$}", s.limits)
	s.mux.HandleFunc("POST /api/0/organizations/{org}/chunk-upload/{$}", s.chunks)
	s.mux.HandleFunc("POST /api/0/projects/{org}/{project}/files/difs/assemble/{$}", s.assembleFiles)
	s.mux.HandleFunc("POST /api/0/organizations/{org}/artifactbundle/assemble/{$}", s.assembleBundle)
	s.mux.HandleFunc("GET /api/0/{$}", s.info)
	s.mux.HandleFunc("POST /api/0/organizations/{org}/releases/{$}", s.release)
	s.mux.HandleFunc("PUT /api/0/organizations/{org}/releases/{version}/{$}", s.release)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		reject(w, http.StatusNotFound, "the collector only accepts uploads of symbol files")
	})
	return s
}

// ServeHTTP answers requests with the token, and rejects all others.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.Token))
	if s.Token == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		s.Count(Unauthorized)
		reject(w, http.StatusUnauthorized, "invalid token: use the value of uploads::token of the processor symbolicate")
		return
	}
	s.mux.ServeHTTP(w, r)
}

type limits struct {
	URL              string   `json:"url"`
	ChunkSize        int64    `json:"chunkSize"`
	ChunksPerRequest int      `json:"chunksPerRequest"`
	MaxFileSize      int64    `json:"maxFileSize"`
	MaxRequestSize   int64    `json:"maxRequestSize"`
	Concurrency      int      `json:"concurrency"`
	HashAlgorithm    string   `json:"hashAlgorithm"`
	Compression      []string `json:"compression"`
	Accept           []string `json:"accept"`
}

// limits returns the limits for uploads. Its URL is only a path, so that clients send chunks to the
// same host as this request, also through proxies.
func (s *Server) limits(w http.ResponseWriter, r *http.Request) {
	respond(w, http.StatusOK, limits{
		URL: strings.TrimPrefix(r.URL.EscapedPath(), "/api/0"), ChunkSize: chunkSize, ChunksPerRequest: chunksPerRequest, MaxFileSize: s.MaxNativeBytes,
		MaxRequestSize: maxRequestSize, Concurrency: concurrency, HashAlgorithm: "sha1", Compression: []string{"gzip"},
		Accept: []string{"debug_files", "release_files", "artifact_bundles", "artifact_bundles_v2", "proguard"},
	})
}

// info answers the command sentry-cli info.
func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, map[string]any{"version": "0", "user": nil, "auth": map[string]any{"scopes": []string{"project:releases", "project:write", "org:ci"}}})
}

// release accepts a release, which is not stored.
func (s *Server) release(w http.ResponseWriter, r *http.Request) {
	var release struct {
		Version string `json:"version"`
	}
	done, ok := s.read(w, r, &release)
	defer done()
	if !ok {
		return
	}
	if release.Version == "" {
		release.Version = r.PathValue("version")
	}
	respond(w, http.StatusOK, map[string]any{"version": release.Version, "dateCreated": time.Now().UTC().Format(time.RFC3339), "projects": []any{}, "newGroups": 0})
}

// read decodes the body of a request. done releases its memory.
func (s *Server) read(w http.ResponseWriter, r *http.Request, into any) (done func(), ok bool) {
	body, done, err := s.ReadBody(r, maxDescription, decodedRatio)
	if errors.Is(err, ErrNoMemory) {
		reject(w, http.StatusServiceUnavailable, err.Error())
		return done, false
	}
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		s.Count(Rejected)
		reject(w, http.StatusBadRequest, "invalid body: "+err.Error())
		return done, false
	}
	return done, true
}

// enter waits for a free slot. It returns false if the client disconnects first.
func enter(ctx context.Context, slots chan struct{}) (leave func(), ok bool) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, true
	case <-ctx.Done():
		return func() {}, false
	}
}

// errDisk is an error of the disk. The client may repeat the request.
type errDisk struct{ error }

// save stores a file.
func (s *Server) save(name string, body io.Reader, limit int64) (filestore.File, error) {
	stored, err := s.store.Save(name, body, limit)
	if filestore.OfDisk(err) {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // without the path of the directory
		}
		err = errDisk{fmt.Errorf("the collector cannot store the file: %w", err)}
	}
	return stored, err
}

// outcome returns the outcome of an upload with an error.
func outcome(err error) Outcome {
	if _, is := errors.AsType[errDisk](err); is {
		return Failed
	}
	return Rejected
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone
}

func reject(w http.ResponseWriter, status int, detail string) {
	respond(w, status, map[string]string{"detail": detail})
}
