package sentry

// CheckIn is the payload of a "check_in" item: a scheduled job that begins, succeeds or fails. Python and ruby add the
// fields of an event, and so does their SDK.
// https://develop.sentry.dev/sdk/telemetry/check-ins/
type CheckIn struct {
	ID          string // 32 hex digits; all zeros = the latest of this monitor
	MonitorSlug string
	Status      string            // in_progress, ok, error; missed and unknown from the server
	Duration    Optional[float64] // seconds, once it is over
	Timestamp   Timestamp         // python and ruby only
	Platform    string            // python and ruby only
	Release     string
	Environment string
	ServerName  string // python and ruby only
	SDK         ClientSDK
	TraceID     string // of contexts.trace, "" where it is none
	SpanID      string
	Config      []byte // JSON object: schedule, checkin_margin, max_runtime, timezone, thresholds, owner

	Flaws []Flaw
}

// DecodeCheckIn decodes the payload of a "check_in" item. The error is a Discard.
func DecodeCheckIn(payload []byte) (*CheckIn, error) {
	c := &CheckIn{}
	l := loose{s: scanner{data: payload}}
	err := l.document(func(key string) {
		switch key {
		case "check_in_id":
			c.ID = l.uuid(key)
		case "monitor_slug":
			c.MonitorSlug = l.text(key)
		case "status":
			c.Status = l.text(key)
		case "duration":
			c.Duration = l.float(key)
		case "timestamp":
			c.Timestamp = l.time(key)
		case "platform":
			c.Platform = l.text(key)
		case "release":
			c.Release = l.text(key)
		case "environment":
			c.Environment = l.text(key)
		case "server_name":
			c.ServerName = l.text(key)
		case "sdk":
			c.SDK = l.clientSDK()
		case "monitor_config":
			c.Config = l.rawObject(key)
		case "contexts":
			c.TraceID, c.SpanID = l.checkInTrace()
		default:
			l.s.skip()
		}
	})
	c.Flaws = l.flaws
	if err != nil {
		return nil, err
	}
	if c.MonitorSlug == "" {
		return nil, discard(ReasonNothingUsable, "check-in without a monitor slug")
	}
	return c, nil
}

func (l *loose) checkInTrace() (traceID, spanID string) {
	l.object("contexts", func(key string) {
		if key != "trace" {
			l.s.skip()
			return
		}
		l.object("contexts.trace", func(key string) {
			switch key {
			case "trace_id":
				traceID = l.traceID("contexts.trace.trace_id")
			case "span_id":
				spanID = l.spanID("contexts.trace.span_id")
			default:
				l.s.skip()
			}
		})
	})
	return traceID, spanID
}

func (l *loose) clientSDK() (sdk ClientSDK) {
	l.object("sdk", func(key string) {
		switch key {
		case "name":
			sdk.Name = l.text("sdk.name")
		case "version":
			sdk.Version = l.text("sdk.version")
		default:
			l.s.skip()
		}
	})
	return sdk
}
