// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// CheckIn is the payload of a "check_in" item: a scheduled job begins, succeeds or fails. Python
// and Ruby add event fields. https://develop.sentry.dev/sdk/telemetry/check-ins/
type CheckIn struct {
	ID          string // 32 hex digits; all zeros = the latest of this monitor
	MonitorSlug string
	Status      string                     // in_progress, ok, error; missed and unknown from the server
	Duration    jsonscan.Optional[float64] // seconds, once the run is over
	Timestamp   jsonscan.Timestamp         // Python and Ruby only
	Platform    string                     // Python and Ruby only
	Release     string
	Environment string
	ServerName  string // Python and Ruby only
	SDK         sentry.ClientSDK
	TraceID     string // of contexts.trace, "" if invalid
	SpanID      string
	Config      []byte // JSON object: schedule, checkin_margin, max_runtime, timezone, thresholds, owner

	Flaws []discard.Flaw
}

// DecodeCheckIn decodes the payload of a "check_in" item. The error is a *discard.Error.
func DecodeCheckIn(payload []byte) (*CheckIn, error) {
	c := &CheckIn{}
	l := newReader(payload)
	err := l.Document(func(key string) {
		switch key {
		case "check_in_id":
			c.ID = l.UUID(key)
		case "monitor_slug":
			c.MonitorSlug = l.Text(key)
		case "status":
			c.Status = l.Text(key)
		case "duration":
			c.Duration = l.Float(key)
		case "timestamp":
			c.Timestamp = l.Time(key)
		case "platform":
			c.Platform = l.Text(key)
		case "release":
			c.Release = l.Text(key)
		case "environment":
			c.Environment = l.Text(key)
		case "server_name":
			c.ServerName = l.Text(key)
		case "sdk":
			c.SDK = l.clientSDK()
		case "monitor_config":
			c.Config = l.RawObject(key)
		case "contexts":
			c.TraceID, c.SpanID = l.checkInTrace()
		default:
			l.S.Skip()
		}
	})
	c.Flaws = l.Flaws
	if err != nil {
		return nil, err
	}
	if c.MonitorSlug == "" {
		return nil, discard.Errorf(jsonscan.ReasonNothingUsable, "check-in without a monitor slug")
	}
	return c, nil
}

func (l *reader) checkInTrace() (traceID, spanID string) {
	l.Object("contexts", func(key string) {
		if key != "trace" {
			l.S.Skip()
			return
		}
		l.Object("contexts.trace", func(key string) {
			switch key {
			case "trace_id":
				traceID = l.TraceID("contexts.trace.trace_id")
			case "span_id":
				spanID = l.SpanID("contexts.trace.span_id")
			default:
				l.S.Skip()
			}
		})
	})
	return traceID, spanID
}

func (l *reader) clientSDK() (sdk sentry.ClientSDK) {
	l.Object("sdk", func(key string) {
		switch key {
		case "name":
			sdk.Name = l.Text("sdk.name")
		case "version":
			sdk.Version = l.Text("sdk.version")
		default:
			l.S.Skip()
		}
	})
	return sdk
}
