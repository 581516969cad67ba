// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

const (
	// maxCheckInBody is Relay's limit for check-ins, the same as for events.
	maxCheckInBody = 1 << 20

	// latestCheckIn is the ID that refers to the monitor's check-in in progress.
	latestCheckIn = "00000000000000000000000000000000"
)

// openCheckIn reads a check-in from a job without an SDK, for instance sent with curl: a JSON
// object in the body, or ?status=ok in the query. The path contains the monitor.
func openCheckIn(sub *submission, body *httpbody.Body) (*sentry.Envelope, error) {
	read := func(fields map[string]any) error { return readCheckInQuery(fields, sub.req.URL.Query()) }
	if mediaType(sub.req) == sentry.ContentTypeJSON {
		read = func(fields map[string]any) error { return readCheckInJSON(fields, body.Data) }
	}
	fields := map[string]any{"check_in_id": latestCheckIn}
	err := read(fields)
	fields["monitor_slug"] = sub.monitor
	if err == nil && fields["status"] == nil {
		err = errors.New("no status")
	}
	if err != nil {
		return &sentry.Envelope{}, invalidBody("invalid check-in", err)
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		panic(err) // unreachable: the content is decoded JSON, text and a finite number
	}
	header := sentry.ItemHeader{Type: sentry.ItemCheckIn, ContentType: sentry.ContentTypeJSON}
	return &sentry.Envelope{Items: []sentry.Item{{Header: header, Payload: payload}}}, nil
}

func readCheckInJSON(fields map[string]any, body []byte) error {
	var sent map[string]any
	err := json.Unmarshal(body, &sent)
	maps.Copy(fields, sent)
	return err
}

func readCheckInQuery(fields map[string]any, query url.Values) error {
	for _, name := range []string{"status", "check_in_id", "environment"} {
		if value := query.Get(name); value != "" {
			fields[name] = value
		}
	}
	if text := query.Get("duration"); text != "" {
		duration, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(duration) || math.IsInf(duration, 0) {
			return errors.New("the duration in the query is not a number")
		}
		fields["duration"] = duration
	}
	return nil
}

// respondCheckIn responds as Relay does: it tells a job whether its check-in is valid, but never
// that the collector is busy.
func respondCheckIn(w http.ResponseWriter, _ *http.Request, r response) {
	if r.status == http.StatusOK || r.status == http.StatusTooManyRequests {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	r.write(w)
}
