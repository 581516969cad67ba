// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Answer is the response to a request.
type Answer struct {
	Status   int
	limits   string
	body     string
	rejected int64 // elements rejected in a successful OTLP response
}

// OK reports whether the request was accepted.
func (a Answer) OK() bool { return a.Status/100 == 2 }

func (a Answer) String() string {
	text := fmt.Sprint(a.Status)
	if body := strings.TrimSpace(a.body); body != "" {
		text += " " + body
	}
	if a.limits != "" {
		text += " (rate limit: " + a.limits + ")"
	}
	if a.rejected > 0 {
		text += fmt.Sprintf(" (%d rejected)", a.rejected)
	}
	return text
}

const contentTypeProtobuf = "application/x-protobuf"

// Envelope sends an envelope to a DSN.
func Envelope(to sentry.DSN, body []byte, client string) (Answer, error) {
	answer, err := post(to.EnvelopeURL(), readdress(body, to), http.Header{
		"X-Sentry-Auth": {sentry.Auth{PublicKey: to.PublicKey, Version: "7", Client: client}.Header()},
		"Content-Type":  {sentry.ContentTypeEnvelope},
	})
	if answer.OK() {
		answer.body = "" // the event ID
	}
	return answer, err
}

// OTLP sends an encoded message to a path of an OTLP/HTTP endpoint.
func OTLP(endpoint, path string, message []byte) (Answer, error) {
	answer, err := post(strings.TrimRight(endpoint, "/")+path, message, http.Header{"Content-Type": {contentTypeProtobuf}})
	if err == nil && answer.OK() {
		// The responses of all signals have the same fields.
		response := ptraceotlp.NewExportResponse()
		if response.UnmarshalProto([]byte(answer.body)) == nil {
			answer.body, answer.rejected = response.PartialSuccess().ErrorMessage(), response.PartialSuccess().RejectedSpans()
		}
	}
	return answer, err
}

const (
	timeout   = 30 * time.Second
	maxAnswer = 1 << 10
)

func post(url string, body []byte, header http.Header) (Answer, error) {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	request.Header = header
	client := http.Client{Timeout: timeout}
	response, err := client.Do(request)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Answer{}, fmt.Errorf("cannot connect to %s: is it running? In the project's repository, `make run` starts a collector", request.URL.Host)
	case err != nil:
		return Answer{}, fmt.Errorf("no response from %s: %w", request.URL.Host, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return Answer{Status: response.StatusCode, limits: response.Header.Get(sentry.HeaderRateLimits), body: string(text)}, err
}
