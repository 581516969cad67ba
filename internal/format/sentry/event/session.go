// SPDX-License-Identifier: Apache-2.0

package event

import (
	"cmp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Session is the payload of a "session" item: one update of one session. Each update has the
// session's ID and its complete state, including errors.
// https://develop.sentry.dev/sdk/telemetry/sessions/
//
// Ignored: seq, which only orders updates with equal times; did, ip_address and user_agent, which
// identify the user.
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

// SessionUpdates is the table of Session. The duration is not written.
var SessionUpdates = newTable[Session]("", nil,
	textAs(Source.UUID, "sid", func(s *Session) *string { return &s.ID }),
	row[Session]{
		key:  "init",
		read: func(l *reader, s *Session, name string) { s.Init = l.Flag(name).Value },
		write: func(dst []byte, key string, s *Session) []byte {
			if !s.Init {
				return dst
			}
			return append(jsonscan.AppendKey(dst, key), "true"...)
		},
	},
	dateTime("started", func(s *Session) *jsonscan.Timestamp { return &s.Started }),
	dateTime("timestamp", func(s *Session) *jsonscan.Timestamp { return &s.Timestamp }),
	row[Session]{key: "duration", read: func(l *reader, s *Session, name string) { s.Duration = l.seconds(name) }},
	text("status", func(s *Session) *string { return &s.Status }),
	quantity("errors", func(s *Session) *int64 { return &s.Errors }),
	text("abnormal_mechanism", func(s *Session) *string { return &s.AbnormalMechanism }),
	sessionAttributes(func(s *Session) *string { return &s.Release }, func(s *Session) *string { return &s.Environment }),
	ignored[Session]("seq"),
	ignored[Session]("did"),
)

func sessionAttributes[T any](release, environment func(*T) *string) row[T] {
	table := newTable("attrs", nil, text("release", release), text("environment", environment), ignored[T]("ip_address"), ignored[T]("user_agent"))
	return object("attrs", table, func(t *T) *T { return t })
}

// DecodeSession decodes the payload of a "session" item. The error is a *discard.Error.
func DecodeSession(payload []byte) (*Session, error) {
	s := &Session{}
	_, err := SessionUpdates.decode(payload, s, &s.Flaws)
	if err == nil && s.ID == "" && s.Status == "" && !s.Started.Set {
		err = discard.Errorf(jsonscan.ReasonNothingUsable, "session without id, status and start")
	}
	s.Status = cmp.Or(s.Status, SessionOngoing) // Relay's default
	return s, err
}

// IsWhole reports whether the update is the only one of its session, so that an aggregate states
// the same.
func (s *Session) IsWhole() bool { return s.Init && s.Status != SessionOngoing }

// Sessions is the payload of a "sessions" item: servers send aggregates instead of one update per
// request.
type Sessions struct {
	Aggregates  []SessionAggregate
	Release     string
	Environment string

	discard.Tally // of unusable aggregates
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
	l, err := SessionCounts.decode(payload, s, &s.Flaws)
	if err == nil && !l.found {
		err = discard.Errorf(jsonscan.ReasonNothingUsable, "sessions without aggregates")
	}
	return s, err
}

// sessions is the table of Sessions. Identity and user agent of the user have no place in counts.
var SessionCounts = newTable[Sessions]("", nil,
	row[Sessions]{
		key: "aggregates",
		read: func(l *reader, s *Sessions, name string) {
			l.found = true
			l.List(name, func() { s.aggregate(l) })
		},
		write: func(dst []byte, key string, s *Sessions) []byte {
			return append(appendElements(append(jsonscan.AppendKey(dst, key), '['), SessionAggregates, s.Aggregates), ']')
		},
	},
	sessionAttributes(func(s *Sessions) *string { return &s.Release }, func(s *Sessions) *string { return &s.Environment }),
)

var SessionAggregates = newTable[SessionAggregate]("aggregates", nil,
	dateTime("started", func(a *SessionAggregate) *jsonscan.Timestamp { return &a.Started }),
	quantity("exited", func(a *SessionAggregate) *int64 { return &a.Exited }),
	quantity("errored", func(a *SessionAggregate) *int64 { return &a.Errored }),
	quantity("abnormal", func(a *SessionAggregate) *int64 { return &a.Abnormal }),
	quantity("crashed", func(a *SessionAggregate) *int64 { return &a.Crashed }),
	quantity("unhandled", func(a *SessionAggregate) *int64 { return &a.Unhandled }),
	ignored[SessionAggregate]("did"),
).unprefixed()

func (s *Sessions) aggregate(l *reader) {
	if !SessionAggregates.read(l, grow(&s.Aggregates)) {
		shrink(&s.Aggregates)
		s.Lose(ReasonSessionNoObject, 1)
	}
}

// quantity is a count; 0 = absent.
func quantity[T any](key string, at func(*T) *int64) row[T] {
	r := field(KindCount, key, at, func(s Source, name string) int64 { return s.Int(name).Value }, func(n *int64) bool { return *n != 0 },
		func(dst []byte, key string, n int64) []byte { return appendInt(jsonscan.AppendKey(dst, key), n) }, Visitor.Int)
	r.read = func(l *reader, t *T, name string) { *at(t) = l.count(name, maxQuantity).Value }
	return r
}

// maxQuantity is the largest count of sessions or discarded events in Relay (32 bits). Sums of
// counts fit into 64 bits.
const maxQuantity = 1<<32 - 1

// seconds reads a non-negative duration.
func (l *reader) seconds(field string) jsonscan.Optional[float64] {
	d := l.Float(field)
	if d.Set && d.Value < 0 {
		l.AddFlaw(field)
		return jsonscan.Optional[float64]{}
	}
	return d
}
