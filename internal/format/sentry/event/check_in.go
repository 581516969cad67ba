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

// AppendCheckIn appends the payload of a "check_in" item to dst. It is the inverse of
// DecodeCheckIn.
func AppendCheckIn(dst []byte, c *CheckIn) []byte { return CheckIns.append(dst, c) }

// DecodeCheckIn decodes the payload of a "check_in" item. The error is a *discard.Error.
func DecodeCheckIn(payload []byte) (*CheckIn, error) {
	c := &CheckIn{}
	l := newReader(payload)
	err := CheckIns.document(l, c)
	c.Flaws = l.Flaws
	if err != nil {
		return nil, err
	}
	if c.MonitorSlug == "" {
		return nil, discard.Errorf(jsonscan.ReasonNothingUsable, "check-in without a monitor slug")
	}
	return c, nil
}
