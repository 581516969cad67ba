package sentry

// Session is the payload of a "session" item: one update of one session. The updates of a session have its id and state the
// whole of it anew, its errors too. https://develop.sentry.dev/sdk/telemetry/sessions/
//
// Not decoded: seq, which only tells updates of equal time apart; did, ip_address and user_agent, which say who the user is.
type Session struct {
	ID                string // "sid", 32 lower-case hex digits where it is a UUID
	Init              bool   // the first update of this session
	Started           Timestamp
	Timestamp         Timestamp         // of the update; native sends none
	Duration          Optional[float64] // seconds; browsers send none, on purpose
	Status            string            // ok (it goes on), exited, crashed, abnormal, unhandled; "ok" where none was sent
	Errors            int64             // so far
	AbnormalMechanism string            // of abnormal: anr_foreground, …
	Release           string
	Environment       string

	Flaws []Flaw
}

// SessionOngoing is the one status that does not end a session.
const SessionOngoing = "ok"

// DecodeSession decodes the payload of a "session" item. The error is a Discard.
func DecodeSession(payload []byte) (*Session, error) {
	s := &Session{}
	l := loose{s: scanner{data: payload}}
	err := l.document(func(key string) {
		switch key {
		case "sid":
			s.ID = l.uuid(key)
		case "init":
			s.Init = l.flag(key).Value
		case "started":
			s.Started = l.time(key)
		case "timestamp":
			s.Timestamp = l.time(key)
		case "duration":
			s.Duration = l.seconds(key)
		case "status":
			s.Status = l.text(key)
		case "errors":
			s.Errors = l.quantity(key).Value
		case "abnormal_mechanism":
			s.AbnormalMechanism = l.text(key)
		case "attrs":
			s.Release, s.Environment = l.sessionAttributes()
		default:
			l.s.skip()
		}
	})
	s.Flaws = l.flaws
	switch {
	case err != nil:
		return nil, err
	case s.ID == "" && s.Status == "" && !s.Started.Set:
		return nil, discard(ReasonNothingUsable, "session without id, status and start")
	case s.Status == "":
		s.Status = SessionOngoing // Relay's default
	}
	return s, nil
}

// Sessions is the payload of a "sessions" item: what servers send instead of an update for each request they serve.
type Sessions struct {
	Aggregates  []SessionAggregate
	Release     string
	Environment string

	Lost  []Loss // aggregates that could not be used
	Flaws []Flaw
}

// SessionAggregate counts the sessions that began in one minute, by how they ended. Each session is in one of the counts.
type SessionAggregate struct {
	Started                            Timestamp // a whole minute
	Exited, Errored, Abnormal, Crashed int64
	Unhandled                          int64
}

// ReasonSessionNoObject: an aggregate is dropped because it is no JSON object.
const ReasonSessionNoObject Reason = "session_no_object"

// DecodeSessions decodes the payload of a "sessions" item. The error is a Discard.
func DecodeSessions(payload []byte) (*Sessions, error) {
	s := &Sessions{}
	l := loose{s: scanner{data: payload}}
	found := false
	err := l.document(func(key string) {
		switch key {
		case "aggregates":
			found = true
			l.list(key, func() { s.aggregate(&l) })
		case "attrs":
			s.Release, s.Environment = l.sessionAttributes()
		default:
			l.s.skip()
		}
	})
	s.Flaws = l.flaws
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, discard(ReasonNothingUsable, "sessions without aggregates")
	}
	return s, nil
}

func (s *Sessions) aggregate(l *loose) {
	var a SessionAggregate
	isObject := l.s.peek() == '{'
	l.object("aggregates", func(key string) {
		switch key {
		case "started":
			a.Started = l.time(key)
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
			l.s.skip()
		}
	})
	switch {
	case l.s.err != nil:
	case !isObject:
		s.Lost = addLoss(s.Lost, ReasonSessionNoObject, 1)
	default:
		s.Aggregates = append(s.Aggregates, a)
	}
}

func (l *loose) sessionAttributes() (release, environment string) {
	l.object("attrs", func(key string) {
		switch key {
		case "release":
			release = l.text("attrs.release")
		case "environment":
			environment = l.text("attrs.environment")
		default:
			l.s.skip()
		}
	})
	return release, environment
}

// maxQuantity is what Relay's counts of sessions and of lost events hold: 32 bits. It also keeps any sum of them in 64.
const maxQuantity = 1<<32 - 1

// quantity takes a count.
func (l *loose) quantity(field string) Optional[int64] {
	n := l.int(field)
	if n.Set && (n.Value < 0 || n.Value > maxQuantity) {
		l.flaw(field)
		return Optional[int64]{}
	}
	return n
}

// seconds takes a duration, which is not negative.
func (l *loose) seconds(field string) Optional[float64] {
	d := l.float(field)
	if d.Set && d.Value < 0 {
		l.flaw(field)
		return Optional[float64]{}
	}
	return d
}
