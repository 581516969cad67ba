// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/mcptools"
)

// failure is an error with its HTTP status.
type failure struct {
	status int
	text   string
}

func (f failure) Error() string { return f.text }

func badRequest(format string, args ...any) error {
	return failure{status: http.StatusBadRequest, text: fmt.Sprintf(format, args...)}
}

// gone returns the error for a subject that was evicted after the page listed it.
func gone(what string) error {
	return failure{status: http.StatusGone, text: what + " is no longer stored: see max_age and max_bytes"}
}

// notModified is the response if the page already has the current content.
type notModified struct{}

// current reports whether the page already has the content with a tag.
func current(r *http.Request, tag string) bool {
	return tag != "" && r.Header.Get("If-None-Match") == tag
}

// tagged is a response with its ETag.
type tagged struct {
	value any
	tag   string
}

// unlessUnchanged returns a handler that answers 304 if the page already has the response and the
// store has not changed since.
func (v *viewer) unlessUnchanged(answer func(*http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		tag := fmt.Sprintf(`"%d-%d-%x"`, v.created.UnixNano(), v.store.Stats().Version, sha256.Sum224([]byte(r.URL.RequestURI())))
		if current(r, tag) {
			return notModified{}, nil
		}
		value, err := answer(r)
		return tagged{value, tag}, err
	}
}

// concurrentBuilds is the number of responses that are built concurrently. A decoded message and
// its response use several times the memory of the message.
const concurrentBuilds = 1

// respond builds a response when its turn comes. The next one is built while this one is written.
func (v *viewer) respond(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	select {
	case v.building <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	out := v.build(w.Header(), r, answer)
	defer v.unread.add(w, r, int64(len(out.content)))()
	out.write(w, r) // an error means that the client disconnected
}

// response is a response in memory.
type response struct {
	status  int
	content []byte
	gzipped bool // by us, for the transfer
}

func (o response) write(w http.ResponseWriter, r *http.Request) {
	if !o.gzipped {
		w.WriteHeader(o.status)
		_, _ = w.Write(o.content)
		return
	}
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(o.status)
		_, _ = w.Write(o.content)
		return
	}
	w.WriteHeader(o.status)
	if plain, err := gzip.NewReader(bytes.NewReader(o.content)); err == nil {
		_, _ = io.Copy(w, plain)
	}
}

// build sets the headers and returns the response. It then lets the next response start.
func (v *viewer) build(header http.Header, r *http.Request, answer func(*http.Request) (any, error)) (out response) {
	defer func() { <-v.building }()
	value, err := answer(r)
	if err == nil {
		out, err = encode(header, value)
	}
	if err != nil {
		out = response{status: http.StatusInternalServerError}
		if f, ok := errors.AsType[failure](err); ok {
			out.status = f.status
		} else if errors.Is(err, timeline.ErrTooLarge) || errors.Is(err, timeline.ErrNegative) {
			out.status = http.StatusUnprocessableEntity
		}
		header.Set("Content-Type", "application/json")
		out.content, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return out
}

func encode(header http.Header, value any) (out response, err error) {
	switch value := value.(type) {
	case tagged:
		if value.tag != "" {
			header.Set("ETag", value.tag)
		}
		return encode(header, value.value)
	case notModified:
		return response{status: http.StatusNotModified}, nil
	case file:
		out, err = value.build()
		if err == nil {
			header.Set("Content-Type", value.contentType)
			header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", value.name))
			header.Set("X-Data-Notice", mcptools.Notice) // formats of other tools have no place for it
		}
		return out, err
	default:
		header.Set("Content-Type", "application/json")
		content, err := answer.JSON(value)
		return response{status: http.StatusOK, content: content}, err
	}
}

// build writes a file into memory, compressed.
func (f file) build() (response, error) {
	var b bytes.Buffer
	if f.compressed {
		err := f.write(&limited{to: &b, left: f.limit})
		return response{status: http.StatusOK, content: b.Bytes()}, err
	}
	compressed, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a valid level
	err := f.write(&limited{to: compressed, left: f.limit})
	err = errors.Join(err, compressed.Close())
	return response{status: http.StatusOK, content: b.Bytes(), gzipped: true}, err
}

// limited is a writer that fails after a number of bytes.
type limited struct {
	to   io.Writer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, timeline.ErrTooLarge
	}
	return l.to.Write(p)
}
