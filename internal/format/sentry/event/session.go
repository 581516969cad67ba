// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Session is the payload of a "session" item: one update of one session. Each update has the
// session's ID and its complete state, including errors.
// https://develop.sentry.dev/sdk/telemetry/sessions/
//
// Not decoded: seq, which only orders updates with equal times; did, ip_address and user_agent,
// which identify the user.
type Session struct {
	ID                string // "sid", 32 lower-case hex digits if it is a UUID
	Init              bool   // the first update of this session
	Started           jsonscan.Timestamp
	Timestamp         jsonscan.Timestamp         // time of the update; Native sends none
	Duration          jsonscan.Optional[float64] // seconds; browsers send none, on purpose
	Status            string                     // ok (ongoing), exited, crashed, abnormal, unhandled; "ok" if absent
	Errors            int64                      // so far
	AbnormalMechanism string                     // of abnormal: anr_foreground, …
	Release           string
	Environment       string

	Flaws []discard.Flaw
}

// SessionOngoing is the only status that does not end a session.
const SessionOngoing = "ok"

// DecodeSession decodes the payload of a "session" item. The error is a *discard.Error.
func DecodeSession(payload []byte) (*Session, error) {
	s := &Session{}
	l := newReader(payload)
	err := l.Document(func(key string) {
		switch key {
		case "sid":
			s.ID = l.UUID(key)
		case "init":
			s.Init = l.Flag(key).Value
		case "started":
			s.Started = l.Time(key)
		case "timestamp":
			s.Timestamp = l.Time(key)
		case "duration":
			s.Duration = l.seconds(key)
		case "status":
			s.Status = l.Text(key)
		case "errors":
			s.Errors = l.quantity(key).Value
		case "abnormal_mechanism":
			s.AbnormalMechanism = l.Text(key)
		case "attrs":
			s.Release, s.Environment = l.sessionAttributes()
		default:
			l.S.Skip()
		}
	})
	s.Flaws = l.Flaws
	switch {
	case err != nil:
		return nil, err
	case s.ID == "" && s.Status == "" && !s.Started.Set:
		return nil, discard.Errorf(jsonscan.ReasonNothingUsable, "session without id, status and start")
	case s.Status == "":
		s.Status = SessionOngoing // Relay's default
	}
	return s, nil
}

// Sessions is the payload of a "sessions" item: servers send aggregates instead of one update per
// request.
type Sessions struct {
	Aggregates  []SessionAggregate
	Release     string
	Environment string

	Lost  []discard.Loss // unusable aggregates
	Flaws []discard.Flaw
}

// SessionAggregate counts the sessions that began in one minute, by final status. Each session is
// counted exactly once.
type SessionAggregate struct {
	Started                            jsonscan.Timestamp // a whole minute
	Exited, Errored, Abnormal, Crashed int64
	Unhandled                          int64
}

// ReasonSessionNoObject: the aggregate is not a JSON object.
const ReasonSessionNoObject discard.Reason = "session_no_object"

// DecodeSessions decodes the payload of a "sessions" item. The error is a *discard.Error.
func DecodeSessions(payload []byte) (*Sessions, error) {
	s := &Sessions{}
	l := newReader(payload)
	found := false
	err := l.Document(func(key string) {
		switch key {
		case "aggregates":
			found = true
			l.List(key, func() { s.aggregate(&l) })
		case "attrs":
			s.Release, s.Environment = l.sessionAttributes()
		default:
			l.S.Skip()
		}
	})
	s.Flaws = l.Flaws
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, discard.Errorf(jsonscan.ReasonNothingUsable, "sessions without aggregates")
	}
	return s, nil
}

func (s *Sessions) aggregate(l *reader) {
	var a SessionAggregate
	isObject := l.S.Peek() == '{'
	l.Object("aggregates", func(key string) {
		switch key {
		case "started":
			a.Started = l.Time(key)
		case "exited":
			a.Exited = l.quantity(key).Value
		case "errored":
			a.Errored = l.quantity(key).Value
		case "abnormal":
			a.Abnormal = l.quantity(key).Value
		case "crashed":
			a.Crashed = l.quantity(key).Value
		case "unhandled":
			a.Unhandled = l.quantity(key).Value
		default:
			l.S.Skip()
		}
	})
	switch {
	case l.S.Err != nil:
	case !isObject:
		s.Lost = discard.AddLoss(s.Lost, ReasonSessionNoObject, 1)
	default:
		s.Aggregates = append(s.Aggregates, a)
	}
}

func (l *reader) sessionAttributes() (release, environment string) {
	l.Object("attrs", func(key string) {
		switch key {
		case "release":
			release = l.Text("attrs.release")
		case "environment":
			environment = l.Text("attrs.environment")
		default:
			l.S.Skip()
		}
	})
	return release, environment
}

// maxQuantity is the largest count of sessions or discarded events in Relay (32 bits). Sums of
// counts fit into 64 bits.
const maxQuantity = 1<<32 - 1

// quantity reads a count.
func (l *reader) quantity(field string) jsonscan.Optional[int64] {
	n := l.Int(field)
	if n.Set && (n.Value < 0 || n.Value > maxQuantity) {
		l.AddFlaw(field)
		return jsonscan.Optional[int64]{}
	}
	return n
}

// seconds reads a non-negative duration.
func (l *reader) seconds(field string) jsonscan.Optional[float64] {
	d := l.Float(field)
	if d.Set && d.Value < 0 {
		l.AddFlaw(field)
		return jsonscan.Optional[float64]{}
	}
	return d
}
