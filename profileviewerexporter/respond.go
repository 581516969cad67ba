package profileviewerexporter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

// failure is an answer that is no success.
type failure struct {
	status int
	text   string
}

func (f failure) Error() string { return f.text }

func badRequest(format string, args ...any) error {
	return failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// gone: what was kept when the page heard of it has made room since.
func gone(what string) error {
	return failure{http.StatusGone, what + " is no longer kept: it was too old, or there was no room for it"}
}

// notModified: what the page has is what there is.
type notModified struct{}

// file is an answer that is to be saved.
type file struct {
	name, contentType string
	content           []byte
}

// answersAtOnce: to decode what is kept takes some times its memory, and so does what is made of it.
const answersAtOnce = 1

// respond builds a response when its turn comes. The next one is built while this one is written.
func (v *viewer) respond(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	select {
	case v.answering <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	status, content := v.build(w.Header(), r, answer)
	defer v.unread.add(w, r, int64(len(content)))()
	w.WriteHeader(status)
	_, _ = w.Write(content) // if the reader is gone, there is nobody left to tell
}

// build makes the headers and the content of a response, and ends its turn.
func (v *viewer) build(header http.Header, r *http.Request, answer func(*http.Request) (any, error)) (status int, content []byte) {
	defer func() { <-v.answering }()
	value, err := answer(r)
	header.Set("Content-Type", "application/json")
	if err == nil {
		status, content, err = encode(header, value)
	}
	if err != nil {
		status = http.StatusInternalServerError
		if f, ok := errors.AsType[failure](err); ok {
			status = f.status
		} else if errors.Is(err, timeline.ErrTooLarge) {
			status = http.StatusUnprocessableEntity
		}
		content, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return status, content
}

func encode(header http.Header, value any) (status int, content []byte, err error) {
	switch value := value.(type) {
	case notModified:
		header.Del("Content-Type")
		return http.StatusNotModified, nil, nil
	case file:
		header.Set("Content-Type", value.contentType)
		header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", value.name))
		return http.StatusOK, value.content, nil
	default:
		if tagged, ok := value.(interface{ etag() string }); ok {
			header.Set("ETag", tagged.etag())
		}
		content, err = encodeJSON(value)
		return http.StatusOK, content, err
	}
}

// encodeJSON leaves < as it is, which would take six bytes: the content type, nosniff and the policy keep it text.
func encodeJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	if b.Len() > maxResponse {
		return nil, fmt.Errorf("the response would have %d bytes, at most %d: this is a fault of the exporter", b.Len(), maxResponse)
	}
	return b.Bytes(), nil
}
