// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// crashReports maps the endpoints for crash reports to the names in their records. Only Sentry
// reads the reports; the pipelines receive a record of each.
var crashReports = map[string]string{"minidump": "minidump", "unreal": "Unreal Engine crash report", "playstation": "PlayStation crash dump"}

// crashRecord returns an envelope with an error event that records a crash report, or nil if the
// request is not one.
func crashRecord(req *http.Request, r *route, now time.Time) []byte {
	name := crashReports[r.endpoint]
	if name == "" || req.Method != http.MethodPost {
		return nil
	}
	text := "Crash report: " + name
	if req.ContentLength >= 0 { // else it is chunked
		text = fmt.Sprintf("%s, %d bytes", text, req.ContentLength)
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	event := struct {
		ID        string  `json:"event_id"`
		Timestamp float64 `json:"timestamp"`
		Platform  string  `json:"platform"`
		Level     string  `json:"level"`
		Logger    string  `json:"logger"`
		Message   string  `json:"message"`
	}{hex.EncodeToString(id[:]), float64(now.UnixMilli()) / 1000, "native", "fatal", componentType.String(), text}
	payload, err := json.Marshal(&event)
	if err != nil {
		return nil // event can always be encoded
	}
	envelope, err := sentry.AppendEnvelope(nil, &sentry.Envelope{Items: []sentry.Item{{Header: sentry.ItemHeader{Type: sentry.ItemEvent}, Payload: payload}}})
	if err != nil {
		return nil
	}
	return envelope
}
