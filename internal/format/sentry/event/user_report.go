// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

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

// AppendUserReport appends the payload of a "user_report" item to dst. It is the inverse of
// DecodeUserReport.
func AppendUserReport(dst []byte, r *UserReport) []byte { return UserReports.append(dst, r) }

// DecodeUserReport decodes the payload of a "user_report" item. The error is a *discard.Error.
func DecodeUserReport(payload []byte) (*UserReport, error) {
	r := &UserReport{}
	l := newReader(payload)
	err := UserReports.document(l, r)
	r.Flaws = l.Flaws
	if err != nil {
		return nil, err
	}
	if r.EventID == "" && r.Comments == "" {
		return nil, discard.Errorf(jsonscan.ReasonNothingUsable, "user report without event id and comments")
	}
	return r, nil
}
