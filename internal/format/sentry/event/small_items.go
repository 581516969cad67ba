// SPDX-License-Identifier: Apache-2.0

package event

import (
	"cmp"

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
).ignoring("type", "event_id", "modules")

var checkInSDK = newTable[sentry.ClientSDK]("sdk", nil,
	text("name", func(s *sentry.ClientSDK) *string { return &s.Name }),
	text("version", func(s *sentry.ClientSDK) *string { return &s.Version }),
).ignoring("integrations", "packages")

var checkInContexts = newTable[CheckIn]("contexts", nil,
	object("trace", checkInTrace, func(c *CheckIn) *CheckIn { return c }),
)

// checkInTrace keeps the IDs: ingest reads nothing else.
var checkInTrace = newTable[CheckIn]("contexts.trace", nil,
	textAs(Source.TraceID, "trace_id", func(c *CheckIn) *string { return &c.TraceID }),
	textAs(Source.SpanID, "span_id", func(c *CheckIn) *string { return &c.SpanID }),
).others(ignoreUnknown)

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

// ClientReport is the payload of a "client_report" item: data that an SDK, or a Relay on the way,
// dropped.
// https://develop.sentry.dev/sdk/telemetry/client-reports/
type ClientReport struct {
	Timestamp jsonscan.Timestamp
	Events    []LostEvents

	discard.Tally // of unusable entries
}

// LostEvents is an entry of one of the report's four lists.
type LostEvents struct {
	Outcome  string // one of the Outcome constants, determined by the list that contains the entry
	Reason   string // sample_rate, before_send, queue_overflow, ratelimit_backoff, …
	Category string // a data category: error, transaction, span, log_byte, …
	Quantity int64  // items, or bytes for the categories that end in _byte

	counted bool // while it is read
}

// Outcomes, with Relay's names. SDKs send only the first one.
const (
	OutcomeClientDiscard    = "client_discard"
	OutcomeRateLimited      = "rate_limited"
	OutcomeFiltered         = "filtered"
	OutcomeFilteredSampling = "filtered_sampling"
)

var ClientReports = newTable[ClientReport]("", nil,
	dateTime("timestamp", func(r *ClientReport) *jsonscan.Timestamp { return &r.Timestamp }),
	lostEvents("discarded_events", OutcomeClientDiscard),
	lostEvents("rate_limited_events", OutcomeRateLimited),
	lostEvents("filtered_events", OutcomeFiltered),
	lostEvents("filtered_sampling_events", OutcomeFilteredSampling),
)

// lostEvents is the list of the entries with an outcome. Ingest requires the list of an SDK's own
// discards.
func lostEvents(key, outcome string) row[ClientReport] {
	return row[ClientReport]{
		key: key,
		read: func(l *reader, r *ClientReport, name string) {
			l.found = true
			l.List(name, func() { r.event(l, outcome) })
		},
		write: func(dst []byte, key string, r *ClientReport) []byte {
			before := len(dst)
			dst = append(jsonscan.AppendKey(dst, key), '[')
			for i := range r.Events {
				if e := &r.Events[i]; e.Outcome == outcome {
					dst = LostEventEntries.Append(appendComma(dst), e)
				}
			}
			if dst[len(dst)-1] == '[' && outcome != OutcomeClientDiscard {
				return dst[:before]
			}
			return append(dst, ']')
		},
	}
}

var LostEventEntries = newTable[LostEvents]("events", nil,
	text("reason", func(e *LostEvents) *string { return &e.Reason }),
	text("category", func(e *LostEvents) *string { return &e.Category }),
	row[LostEvents]{
		key: "quantity",
		read: func(l *reader, e *LostEvents, name string) {
			n := l.count(name, maxQuantity)
			e.Quantity, e.counted = n.Value, n.Set
		},
		write: func(dst []byte, key string, e *LostEvents) []byte {
			return appendInt(jsonscan.AppendKey(dst, key), e.Quantity)
		},
	},
).unprefixed()

// ReasonReportNoQuantity: the entry has no quantity from 0 to 2^32-1, or is not an object.
const ReasonReportNoQuantity discard.Reason = "client_report_no_quantity"

// DecodeClientReport decodes the payload of a "client_report" item. The error is a *discard.Error.
func DecodeClientReport(payload []byte) (*ClientReport, error) {
	r := &ClientReport{}
	l, err := ClientReports.decode(payload, r, &r.Flaws)
	if err == nil && !l.found {
		err = discard.Errorf(jsonscan.ReasonNothingUsable, "client report without a list of events")
	}
	return r, err
}

func (r *ClientReport) event(l *reader, outcome string) {
	e := LostEvents{Outcome: outcome}
	LostEventEntries.read(l, &e)
	switch {
	case l.S.Err != nil:
	case !e.counted:
		r.Lose(ReasonReportNoQuantity, 1)
	default:
		e.counted = false
		r.Events = append(r.Events, e)
	}
}

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
).ignoring("seq", "did")

func sessionAttributes[T any](release, environment func(*T) *string) row[T] {
	table := newTable("attrs", nil, text("release", release), text("environment", environment)).ignoring("ip_address", "user_agent")
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
