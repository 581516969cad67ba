// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// openStore reads one event or transaction, the format that SDKs used before envelopes. The body
// can still be an envelope, according to its content type.
func openStore(sub *submission, body *httpbody.Body) (*sentry.Envelope, error) {
	if hasEnvelope(sub.req) {
		return sentry.ReadEnvelope(body.Data)
	}
	return readStore(sub, body)
}

// hasEnvelope reports whether a request to the store endpoint contains an envelope.
func hasEnvelope(req *http.Request) bool { return mediaType(req) == sentry.ContentTypeEnvelope }

func readStore(sub *submission, body *httpbody.Body) (*sentry.Envelope, error) {
	if err := unwrap(body, sub.maxBody); err != nil {
		return &sentry.Envelope{}, err
	}
	envelope, err := sentry.ReadStore(body.Data)
	if err != nil {
		return envelope, invalidBody("invalid event", err)
	}
	return envelope, nil
}

// openStoreQuery reads an event from the query. raven-js sent events by loading an image.
func openStoreQuery(sub *submission, body *httpbody.Body) (*sentry.Envelope, error) {
	text := strings.TrimSpace(sub.req.URL.Query().Get("sentry_data"))
	if !strings.HasPrefix(text, "{") {
		text = strings.ReplaceAll(text, " ", "+") // base64 that was not percent-encoded
	}
	body.Data = append(body.Data[:0], text...)
	return readStore(sub, body)
}

// respondPixel responds with an image, because browsers log an error for any other content.
func respondPixel(w http.ResponseWriter, _ *http.Request, r response) {
	if r.status != http.StatusOK {
		r.write(w)
		return
	}
	r.writeLimits(w)
	w.Header().Set("Content-Type", "image/gif")
	_, _ = w.Write(transparentPixel)
}

// transparentPixel is a GIF, the same as Relay's.
var transparentPixel = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00" +
	",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")

// unwrap decodes the encodings of raven SDKs, which no header indicates: base64-encoded JSON,
// either plain or compressed with zlib. The error is a *rejection.
func unwrap(body *httpbody.Body, limit int64) error {
	text := bytes.TrimSpace(body.Data)
	if len(text) == 0 || text[0] == '{' {
		return nil
	}
	if err := body.DecodeBase64(bytes.TrimRight(text, "=")); err != nil {
		return bodyRejection(err, reasonBodyUndecodable, "cannot decode the body: it is neither JSON nor base64", limit)
	}
	if len(body.Data) == 0 || body.Data[0] == '{' {
		return nil
	}
	if err := body.Decode(httpbody.Deflate, limit); err != nil {
		return bodyRejection(err, reasonBodyUndecodable, "cannot decode the base64 body as "+httpbody.Deflate, limit)
	}
	return nil
}

// mediaType returns the content type of a request without its parameters, in lower case.
func mediaType(req *http.Request) string {
	name, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(name))
}
