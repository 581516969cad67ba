package sentry

// UserReport is the payload of a "user_report" item: what a user said about an event, before there was feedback.
// https://develop.sentry.dev/sdk/foundations/envelopes/envelope-items/#user-report
type UserReport struct {
	EventID  string // of the event it is about
	Name     string
	Email    string
	Comments string

	Flaws []Flaw
}

// DecodeUserReport decodes the payload of a "user_report" item. The error is a Discard.
func DecodeUserReport(payload []byte) (*UserReport, error) {
	r := &UserReport{}
	l := loose{s: scanner{data: payload}}
	err := l.document(func(key string) {
		switch key {
		case "event_id":
			r.EventID = l.uuid(key)
		case "name":
			r.Name = l.text(key)
		case "email":
			r.Email = l.text(key)
		case "comments":
			r.Comments = l.text(key)
		default:
			l.s.skip()
		}
	})
	r.Flaws = l.flaws
	if err != nil {
		return nil, err
	}
	if r.EventID == "" && r.Comments == "" {
		return nil, discard(ReasonNothingUsable, "user report without event id and comments")
	}
	return r, nil
}
