// SPDX-License-Identifier: Apache-2.0

package profiledialectextension

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"go.opentelemetry.io/collector/extension/extensionmiddleware"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
)

var (
	_ extensionmiddleware.HTTPServer = (*translator)(nil)
	_ extensionmiddleware.HTTPClient = (*translator)(nil)
)

// GetHTTPHandler implements extensionmiddleware.HTTPServer. Clients that state the development
// version are newer than all changes that this extension knows; the receiver checks the version.
func (t *translator) GetHTTPHandler(context.Context) (extensionmiddleware.WrapHTTPHandlerFunc, error) {
	return func(_ context.Context, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if hasProfiles(req) && req.Header.Get(pprofileotlp.DevelopmentVersionHeader) == "" {
				if status, err := t.receive(req); err != nil {
					if status == http.StatusServiceUnavailable {
						w.Header().Set("Retry-After", "1")
					}
					http.Error(w, err.Error(), status)
					return
				}
			}
			next.ServeHTTP(w, req)
		}), nil
	}, nil
}

// hasProfiles reports whether a request contains encoded profiles. The last part of the path is
// the same for all backends. JSON has names instead of numbers: it is the same in OTLP 1.9.
func hasProfiles(req *http.Request) bool {
	mediaType, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	return req.Method == http.MethodPost && req.Body != nil && strings.HasSuffix(req.URL.Path, "/profiles") && mediaType == "application/x-protobuf"
}

// receive translates the body of a request. The server has decompressed and limits it.
func (t *translator) receive(req *http.Request) (status int, err error) {
	body, err := io.ReadAll(req.Body)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge, err
	}
	if err != nil {
		return http.StatusBadRequest, err
	}
	claim := httpbody.ClaimOf(req.Context()) // of otlp_limit, or nil
	body, err = t.decode(req.Context(), body, func(bytes int) error { return claim.Acquire(int64(bytes)) })
	if errors.Is(err, httpbody.ErrNoMemory) {
		return http.StatusServiceUnavailable, err
	}
	if err != nil {
		return http.StatusBadRequest, err
	}
	setBody(req, body)
	return 0, nil
}

func setBody(req *http.Request, body []byte) {
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}

// GetHTTPRoundTripper implements extensionmiddleware.HTTPClient.
func (t *translator) GetHTTPRoundTripper(context.Context) (extensionmiddleware.WrapHTTPRoundTripperFunc, error) {
	return func(_ context.Context, next http.RoundTripper) (http.RoundTripper, error) {
		return roundTripper{t, next}, nil
	}, nil
}

type roundTripper struct {
	*translator
	next http.RoundTripper
}

// RoundTrip sends a request with another body. A request that cannot be translated is answered
// with 400, so that the exporter drops and counts it.
func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if !hasProfiles(req) || !r.encodes() {
		return r.next.RoundTrip(req)
	}
	defer func() { _ = req.Body.Close() }() // it is in memory
	encoding := req.Header.Get("Content-Encoding")
	body, err := readBody(req.Body, encoding)
	if err == nil {
		body, err = r.encode(req.Context(), body)
	}
	if err == nil {
		body, err = compressed(body, encoding)
	}
	if err != nil {
		return badRequest(req, err), nil
	}
	req = req.Clone(req.Context())
	setBody(req, body)
	return r.next.RoundTrip(req)
}

// readBody reads what the exporter has compressed before this middleware.
func readBody(body io.Reader, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return io.ReadAll(body)
	case "gzip":
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(unzipped)
	}
	return nil, fmt.Errorf("the exporter compresses with %s; set its compression to gzip or none", encoding)
}

func compressed(body []byte, encoding string) ([]byte, error) {
	if encoding == "" {
		return body, nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(body)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

func badRequest(req *http.Request, err error) *http.Response {
	text := err.Error()
	return &http.Response{
		Status: "400 Bad Request", StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}
