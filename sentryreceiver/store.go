package sentryreceiver

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// openStore reads what SDKs sent before there were envelopes: one event or transaction. The content type
// may say that it is an envelope after all.
func (r *sentryReceiver) openStore(req *http.Request, body *buffer) (*sentry.Envelope, error) {
	if mediaType(req) == sentry.ContentTypeEnvelope {
		return sentry.ReadEnvelope(body.data)
	}
	if err := body.unwrap(r.cfg.HTTP.MaxRequestBodySize); err != nil {
		return &sentry.Envelope{}, err
	}
	envelope, err := sentry.ReadStore(body.data)
	if err != nil {
		return envelope, invalidBody("invalid event", err)
	}
	return envelope, nil
}

// unwrap decodes what raven SDKs put around JSON without saying so in a header: base64 of it, or base64 of it in zlib's
// format. The error is a *refusal.
func (b *buffer) unwrap(limit int64) error {
	text := bytes.TrimSpace(b.data)
	if len(text) == 0 || text[0] == '{' {
		return nil
	}
	text = bytes.TrimRight(text, "=")
	decoded := acquireBuffer()
	defer decoded.release()
	decoded.reserve(base64.RawStdEncoding.DecodedLen(len(text)))
	n, err := base64.RawStdEncoding.Decode(decoded.data[:cap(decoded.data)], text)
	if err != nil {
		return bodyRefusal(err, reasonBodyUndecodable, "cannot decode the body, which is no JSON, as base64", limit)
	}
	decoded.data = decoded.data[:n]
	if n > 0 && decoded.data[0] != '{' {
		b.data = b.data[:0]
		if err := codings[encodingDeflate].decode(decoded.data, b, limit); err != nil {
			return bodyRefusal(err, reasonBodyUndecodable, "cannot decode the body, which is base64, as "+encodingDeflate, limit)
		}
		return nil
	}
	*b, *decoded = *decoded, *b
	return nil
}

// mediaType is the content type of a request without its parameters, in lower case.
func mediaType(req *http.Request) string {
	name, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(name))
}
