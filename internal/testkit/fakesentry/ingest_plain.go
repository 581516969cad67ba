// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// The rules of ingest for items that it reads with one type, so that it rejects the item for a
// single wrong field: relay-event-schema (session.rs, client_report.rs, user_report.rs) and
// relay-monitors. For sessions, ingest does not even report an outcome.

// instant is a time that must be RFC 3339 text (chrono's DateTime).
type instant struct{ time.Time }

func (t *instant) UnmarshalJSON(token []byte) error {
	var text string
	if err := json.Unmarshal(token, &text); err != nil {
		return fmt.Errorf("%s is no RFC 3339 text", token)
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	t.Time = at
	return err
}

type ingestSessions struct {
	Aggregates []struct {
		Started                                       *instant
		Exited, Errored, Abnormal, Crashed, Unhandled uint32
		DistinctID                                    *string `json:"did"`
	}
	Attributes *ingestSessionAttributes `json:"attrs"`
}

type ingestSessionAttributes struct {
	Release     *string
	Environment *string
}

type ingestSession struct {
	ID                string  `json:"sid"`
	DistinctID        *string `json:"did"`
	Sequence          uint64  `json:"seq"`
	Errors            uint64
	Init              bool
	Started           *instant
	Timestamp         instant
	Duration          *float64
	Status            string
	AbnormalMechanism *string                  `json:"abnormal_mechanism"`
	Attributes        *ingestSessionAttributes `json:"attrs"`
}

func sessionVerdict(_ *sentry.EnvelopeHeader, item *sentry.Item) string {
	s := ingestSession{ID: "00000000000000000000000000000001"}
	if err := json.Unmarshal(item.Payload, &s); err != nil {
		return "invalid_json: " + err.Error()
	}
	switch {
	case s.Attributes == nil || s.Attributes.Release == nil || *s.Attributes.Release == "":
		return "attrs.release"
	case s.Started == nil:
		return "started"
	case !ID.MatchString(strings.ReplaceAll(s.ID, "-", "")):
		return "sid"
	}
	return ""
}

func sessionsVerdict(_ *sentry.EnvelopeHeader, item *sentry.Item) string {
	var s ingestSessions
	if err := json.Unmarshal(item.Payload, &s); err != nil {
		return "invalid_json: " + err.Error()
	}
	switch {
	case s.Attributes == nil || s.Attributes.Release == nil || *s.Attributes.Release == "":
		return "attrs.release"
	case len(s.Aggregates) == 0:
		return "no aggregates"
	}
	for i := range s.Aggregates {
		if s.Aggregates[i].Started == nil {
			return "started"
		}
	}
	return ""
}

type ingestLoss struct {
	Reason, Category *string
	Quantity         *uint64
}

type ingestClientReport struct {
	Timestamp         any
	Discarded         []ingestLoss `json:"discarded_events"`
	RateLimited       []ingestLoss `json:"rate_limited_events"`
	Filtered          []ingestLoss `json:"filtered_events"`
	FilteredBySampler []ingestLoss `json:"filtered_sampling_events"`
}

// clientReportVerdict: discarded_events is required and may be empty; a reason has at most 200
// bytes.
func clientReportVerdict(_ *sentry.EnvelopeHeader, item *sentry.Item) string {
	var r ingestClientReport
	if err := json.Unmarshal(item.Payload, &r); err != nil {
		return "invalid_json: " + err.Error()
	}
	switch at := r.Timestamp.(type) {
	case nil, float64:
	case string:
		if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
			return "timestamp"
		}
	default:
		return "timestamp"
	}
	if r.Discarded == nil {
		return "discarded_events"
	}
	for _, list := range [][]ingestLoss{r.Discarded, r.RateLimited, r.Filtered, r.FilteredBySampler} {
		for i := range list {
			switch e := &list[i]; {
			case e.Reason == nil || len(*e.Reason) > 200:
				return "reason"
			case e.Category == nil:
				return "category"
			case e.Quantity == nil:
				return "quantity"
			}
		}
	}
	return ""
}

type ingestCheckIn struct {
	ID          *string `json:"check_in_id"`
	Slug        string  `json:"monitor_slug"`
	Status      *string
	Environment *string
	Duration    *float64
	Config      *struct {
		Schedule *struct {
			Type  *string
			Value json.RawMessage
			Unit  *string
		}
		Margin            *uint64 `json:"checkin_margin"`
		MaxRuntime        *uint64 `json:"max_runtime"`
		Timezone, Owner   *string
		FailureThreshold  *uint64 `json:"failure_issue_threshold"`
		RecoveryThreshold *uint64 `json:"recovery_threshold"`
	} `json:"monitor_config"`
	Contexts *struct {
		Trace *struct {
			TraceID *string `json:"trace_id"`
		}
	}
}

func checkInVerdict(_ *sentry.EnvelopeHeader, item *sentry.Item) string {
	var c ingestCheckIn
	if err := json.Unmarshal(item.Payload, &c); err != nil {
		return "invalid_json: " + err.Error()
	}
	switch {
	case c.Slug == "":
		return "monitor_slug"
	case c.Status == nil:
		return "status"
	case c.ID != nil && !ID.MatchString(*c.ID):
		return "check_in_id"
	case c.Environment != nil && len([]rune(*c.Environment)) > 64:
		return "environment"
	case c.Contexts != nil && c.Contexts.Trace != nil && (c.Contexts.Trace.TraceID == nil || !ingestTraceID.MatchString(*c.Contexts.Trace.TraceID)):
		return "contexts.trace.trace_id"
	case c.Config != nil && c.Config.Schedule == nil:
		return "monitor_config.schedule"
	}
	return ""
}

type ingestUserReport struct {
	EventID               *string `json:"event_id"`
	Name, Email, Comments string
}

func userReportVerdict(header *sentry.EnvelopeHeader, item *sentry.Item) string {
	var r ingestUserReport
	if err := json.Unmarshal(item.Payload, &r); err != nil {
		return "invalid_json: " + err.Error()
	}
	if r.EventID == nil || !ID.MatchString(*r.EventID) || header.EventID != *r.EventID {
		return "event_id"
	}
	return ""
}
