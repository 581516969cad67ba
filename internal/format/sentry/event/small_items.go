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

// CheckIns is the table of CheckIn. Ingest ignores the event fields of Python and Ruby, which
// repeat what the item states.
var CheckIns = newTable[CheckIn]("", nil,
	textAs(Source.UUID, "check_in_id", func(c *CheckIn) *string { return &c.ID }),
	text("monitor_slug", func(c *CheckIn) *string { return &c.MonitorSlug }),
	text("status", func(c *CheckIn) *string { return &c.Status }),
	float("duration", func(c *CheckIn) *jsonscan.Optional[float64] { return &c.Duration }),
	instant("timestamp", func(c *CheckIn) *jsonscan.Timestamp { return &c.Timestamp }),
	text("platform", func(c *CheckIn) *string { return &c.Platform }),
	text("release", func(c *CheckIn) *string { return &c.Release }),
	text("environment", func(c *CheckIn) *string { return &c.Environment }),
	text("server_name", func(c *CheckIn) *string { return &c.ServerName }),
	object("sdk", checkInSDK, func(c *CheckIn) *sentry.ClientSDK { return &c.SDK }),
	anyJSON(KindObject, "monitor_config", func(c *CheckIn) *[]byte { return &c.Config }),
	object("contexts", checkInContexts, func(c *CheckIn) *CheckIn { return c }),
	ignored[CheckIn]("type"),
	ignored[CheckIn]("event_id"),
	ignored[CheckIn]("modules"),
)

var checkInSDK = newTable[sentry.ClientSDK]("sdk", nil,
	text("name", func(s *sentry.ClientSDK) *string { return &s.Name }),
	text("version", func(s *sentry.ClientSDK) *string { return &s.Version }),
	ignored[sentry.ClientSDK]("integrations"),
	ignored[sentry.ClientSDK]("packages"),
)

var checkInContexts = newTable[CheckIn]("contexts", nil,
	object("trace", checkInTrace, func(c *CheckIn) *CheckIn { return c }),
)

// checkInTrace keeps the IDs: ingest reads nothing else.
var checkInTrace = newTable[CheckIn]("contexts.trace", nil,
	textAs(Source.TraceID, "trace_id", func(c *CheckIn) *string { return &c.TraceID }),
	textAs(Source.SpanID, "span_id", func(c *CheckIn) *string { return &c.SpanID }),
).ignoringUnknown()

// DecodeCheckIn decodes the payload of a "check_in" item. The error is a *discard.Error.
func DecodeCheckIn(payload []byte) (*CheckIn, error) {
	c := &CheckIn{}
	_, err := CheckIns.decode(payload, c, &c.Flaws)
	if err == nil && c.MonitorSlug == "" {
		err = discard.Errorf(jsonscan.ReasonNothingUsable, "check-in without a monitor slug")
	}
	return c, err
}

// UserReport is the payload of a "user_report" item: a user's comment on an event, the predecessor
// of feedback.
// https://develop.sentry.dev/sdk/foundations/envelopes/envelope-items/#user-report
type UserReport struct {
	EventID  string // of the event that it comments on
	Name     string
	Email    string
	Comments string

	Flaws []discard.Flaw
}

// UserReports is the table of UserReport.
var UserReports = newTable[UserReport]("", nil,
	textAs(Source.UUID, "event_id", func(r *UserReport) *string { return &r.EventID }),
	text("name", func(r *UserReport) *string { return &r.Name }),
	text("email", func(r *UserReport) *string { return &r.Email }),
	text("comments", func(r *UserReport) *string { return &r.Comments }),
)

// DecodeUserReport decodes the payload of a "user_report" item. The error is a *discard.Error.
func DecodeUserReport(payload []byte) (*UserReport, error) {
	r := &UserReport{}
	_, err := UserReports.decode(payload, r, &r.Flaws)
	if err == nil && r.EventID == "" && r.Comments == "" {
		err = discard.Errorf(jsonscan.ReasonNothingUsable, "user report without event id and comments")
	}
	return r, err
}
