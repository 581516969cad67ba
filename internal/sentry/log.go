package sentry

// LogContainer is the payload of a "log" item.
// https://develop.sentry.dev/sdk/foundations/envelopes/item-containers/
type LogContainer struct {
	Version        Optional[int64] // absent before 2025's end, now 2
	IngestSettings IngestSettings
	Logs           []Log

	Lost  []Loss // elements that could not be used
	Flaws []Flaw
}

// IngestSettings ask the server to complete elements from the request: "auto" or "never". Honoured from version 2 on.
type IngestSettings struct {
	InferIP        string
	InferUserAgent string
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
// Sentry's ingest drops a container whose item_count is not the number of its elements, and elements without time, trace id
// or level. Here that is a flaw at most: nothing about the elements is ambiguous.
func DecodeLogs(payload []byte, itemCount Optional[int]) (*LogContainer, error) {
	c := &LogContainer{}
	l := loose{s: scanner{data: payload}}
	elements, found := 0, false
	err := l.document(func(key string) {
		switch key {
		case "version":
			c.Version = l.int(key)
		case "ingest_settings":
			c.IngestSettings = l.ingestSettings()
		case "items":
			found = true
			l.list(key, func() {
				elements++
				c.log(&l)
			})
		default:
			l.s.skip()
		}
	})
	if itemCount.Set && itemCount.Value != elements {
		l.flaw("item_count")
	}
	c.Flaws = l.flaws
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, discard(ReasonNothingUsable, "log container without items")
	case len(c.Logs) == 0 && len(c.Lost) > 0:
		return nil, discard(c.Lost[0].Reason, "none of %d logs is usable", elements)
	}
	return c, nil
}

// log reads one element.
func (c *LogContainer) log(l *loose) {
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
	case l.s.err != nil:
	case !isObject:
		c.lose(ReasonLogNoObject)
	case !hasBody:
		c.lose(ReasonLogNoBody)
	default:
		c.Logs = append(c.Logs, log)
	}
}

func (c *LogContainer) lose(reason Reason) {
	for i := range c.Lost {
		if c.Lost[i].Reason == reason {
			c.Lost[i].Count++
			return
		}
	}
	c.Lost = append(c.Lost, Loss{reason, 1})
}

func (l *loose) ingestSettings() (settings IngestSettings) {
	l.object("ingest_settings", func(key string) {
		switch key {
		case "infer_ip":
			settings.InferIP = l.text("ingest_settings.infer_ip")
		case "infer_user_agent":
			settings.InferUserAgent = l.text("ingest_settings.infer_user_agent")
		default:
			l.s.skip()
		}
	})
	return settings
}
