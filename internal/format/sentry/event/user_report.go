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

// DecodeUserReport decodes the payload of a "user_report" item. The error is a *discard.Error.
func DecodeUserReport(payload []byte) (*UserReport, error) {
	r := &UserReport{}
	l := newReader(payload)
	err := l.Document(func(key string) {
		switch key {
		case "event_id":
			r.EventID = l.UUID(key)
		case "name":
			r.Name = l.Text(key)
		case "email":
			r.Email = l.Text(key)
		case "comments":
			r.Comments = l.Text(key)
		default:
			l.S.Skip()
		}
	})
	r.Flaws = l.Flaws
	if err != nil {
		return nil, err
	}
	if r.EventID == "" && r.Comments == "" {
		return nil, discard.Errorf(jsonscan.ReasonNothingUsable, "user report without event id and comments")
	}
	return r, nil
}
