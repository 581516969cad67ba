// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// openStore reads what SDKs sent before there were envelopes: one event or transaction. The content type
// may say that it is an envelope after all.
func (r *sentryReceiver) openStore(req *http.Request, body *httpbody.Body) (*sentry.Envelope, error) {
	if isEnvelope(req) {
		return sentry.ReadEnvelope(body.Data)
	}
	return r.readStore(body)
}

// isEnvelope reports whether the body of a request for the store endpoint is an envelope.
func isEnvelope(req *http.Request) bool {
	return req.Method == http.MethodPost && mediaType(req) == sentry.ContentTypeEnvelope
}

func (r *sentryReceiver) readStore(body *httpbody.Body) (*sentry.Envelope, error) {
	if err := unwrap(body, r.cfg.HTTP.MaxRequestBodySize); err != nil {
		return &sentry.Envelope{}, err
	}
	envelope, err := sentry.ReadStore(body.Data)
	if err != nil {
		return envelope, invalidBody("invalid event", err)
	}
	return envelope, nil
}

// openStoreQuery reads the event that raven-js had the browser send with the address of an image.
func (r *sentryReceiver) openStoreQuery(req *http.Request, body *httpbody.Body) (*sentry.Envelope, error) {
	text := strings.TrimSpace(req.URL.Query().Get("sentry_data"))
	if !strings.HasPrefix(text, "{") {
		text = strings.ReplaceAll(text, " ", "+") // of base64, that nobody escaped
	}
	body.Data = append(body.Data[:0], text...)
	return r.readStore(body)
}

// answerStoreQuery gives the image, which must be one, or pages log an error.
func answerStoreQuery(w http.ResponseWriter, a answer) {
	if a.status != http.StatusOK {
		a.write(w)
		return
	}
	a.writeLimits(w)
	w.Header().Set("Content-Type", "image/gif")
	_, _ = w.Write(transparentPixel)
}

// transparentPixel is a GIF of one, as Relay's.
var transparentPixel = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00" +
	",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")

// unwrap decodes what raven SDKs put around JSON without saying so in a header: base64 of it, or base64 of it in zlib's
// format. The error is a *refusal.
func unwrap(body *httpbody.Body, limit int64) error {
	text := bytes.TrimSpace(body.Data)
	if len(text) == 0 || text[0] == '{' {
		return nil
	}
	if err := body.DecodeBase64(bytes.TrimRight(text, "=")); err != nil {
		return bodyRefusal(err, reasonBodyUndecodable, "cannot decode the body, which is no JSON, as base64", limit)
	}
	if len(body.Data) == 0 || body.Data[0] == '{' {
		return nil
	}
	if err := body.Decode(httpbody.Deflate, limit); err != nil {
		return bodyRefusal(err, reasonBodyUndecodable, "cannot decode the body, which is base64, as "+httpbody.Deflate, limit)
	}
	return nil
}

// mediaType is the content type of a request without its parameters, in lower case.
func mediaType(req *http.Request) string {
	name, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(name))
}
