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
	// maxCheckInBody is what Relay allows: as much as an event may have.
	maxCheckInBody = 1 << 20

	// latestCheckIn stands for the check-in of the monitor that is in progress.
	latestCheckIn = "00000000000000000000000000000000"
)

// openCheckIn gives the opener of check-ins that a job makes with curl, without an SDK: an object of JSON, or ?status=ok in
// the query and no body. The monitor is the one in the path.
func openCheckIn(slug string) opener {
	return func(req *http.Request, body *httpbody.Body) (*sentry.Envelope, error) {
		read := func(fields map[string]any) error { return readCheckInQuery(fields, req.URL.Query()) }
		if mediaType(req) == sentry.ContentTypeJSON {
			read = func(fields map[string]any) error { return readCheckInJSON(fields, body.Data) }
		}
		fields := map[string]any{"check_in_id": latestCheckIn}
		err := read(fields)
		fields["monitor_slug"] = slug
		if err == nil && fields["status"] == nil {
			err = errors.New("no status")
		}
		if err != nil {
			return &sentry.Envelope{}, invalidBody("invalid check-in", err)
		}
		payload, err := json.Marshal(fields)
		if err != nil {
			panic(err) // what came out of JSON, texts and a finite number
		}
		header := sentry.ItemHeader{Type: sentry.ItemCheckIn, ContentType: sentry.ContentTypeJSON}
		return &sentry.Envelope{Items: []sentry.Item{{Header: header, Payload: payload}}}, nil
	}
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
			return errors.New("the duration in the query is no number")
		}
		fields["duration"] = duration
	}
	return nil
}

// answerCheckIn is Relay's: a cron job learns that its check-in was understood, never that the collector is busy.
func answerCheckIn(w http.ResponseWriter, a answer) {
	if a.status == http.StatusOK || a.status == http.StatusTooManyRequests {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	a.write(w)
}
