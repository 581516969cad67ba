package sentry

// LogContainer is the payload of a "log" item.
type LogContainer struct {
	Container
	Logs []Log
}

// Log is one element of a log container. https://develop.sentry.dev/sdk/telemetry/logs/
type Log struct {
	Timestamp      Timestamp
	TraceID        string // 32 lower-case hex digits, "" where it was none
	SpanID         string // 16 lower-case hex digits, "" where it was none
	Level          string // trace, debug, info, warn, error, fatal; others are kept
	SeverityNumber Optional[int64]
	Body           string
	Attributes     []Attribute
}

// Reasons for which an element of a log container is dropped; its neighbours are not concerned.
const (
	// ReasonLogNoObject: the element is no JSON object.
	ReasonLogNoObject Reason = "log_no_object"
	// ReasonLogNoBody: no body, or none that is text, a number or a boolean.
	ReasonLogNoBody Reason = "log_no_body"
)

// DecodeLogs decodes the payload of a "log" item; itemCount is what the item header says of it. The error is a Discard.
//
// Sentry's ingest drops elements without time, trace id or level. Here that is a flaw at most.
func DecodeLogs(payload []byte, itemCount Optional[int]) (c *LogContainer, err error) {
	c = &LogContainer{}
	c.Container, err = decodeContainer(payload, itemCount, c.log)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// log reads one element.
func (c *LogContainer) log(l *loose) Reason {
	var log Log
	hasBody := false
	isObject := l.s.peek() == '{'
	l.object("items", func(key string) {
		switch key {
		case "timestamp":
			log.Timestamp = l.time(key) // go writes RFC 3339 with nine digits, all others seconds
		case "trace_id":
			log.TraceID = l.traceID(key)
		case "span_id":
			log.SpanID = l.spanID(key)
		case "level":
			log.Level = l.text(key)
		case "severity_number":
			log.SeverityNumber = l.int(key)
		case "body":
			next := l.s.peek()
			hasBody = next != 'n' && next != '{' && next != '['
			log.Body = l.text(key)
		case "attributes":
			log.Attributes = l.attributes()
		default:
			l.s.skip()
		}
	})
	switch {
	case !isObject:
		return ReasonLogNoObject
	case !hasBody:
		return ReasonLogNoBody
	}
	c.Logs = append(c.Logs, log)
	return ""
}
