package sentry

// MetricContainer is the payload of a "trace_metric" item.
// https://develop.sentry.dev/sdk/foundations/envelopes/item-containers/
type MetricContainer struct {
	Version        Optional[int64] // absent from go, java, native, php and ruby; else 2
	IngestSettings IngestSettings
	Metrics        []TraceMetric

	Lost  []Loss // elements that could not be used
	Flaws []Flaw
}

// TraceMetric is one element of a metric container: one recording of one value, nothing is aggregated by SDKs.
// https://develop.sentry.dev/sdk/telemetry/metrics/
type TraceMetric struct {
	Timestamp  Timestamp
	TraceID    string // 32 lower-case hex digits, "" where it was none
	SpanID     string // 16 lower-case hex digits, "" where it was none: native and python send none
	Name       string
	Type       MetricType
	Value      float64 // finite; of a counter never negative
	Unit       string  // nanosecond … week, bit … exbibyte, ratio, percent, none, or a word of the user's: euro
	Attributes []Attribute
}

// MetricType says what the values of a metric are.
type MetricType string

// The published types.
const (
	MetricCounter      MetricType = "counter"
	MetricGauge        MetricType = "gauge"
	MetricDistribution MetricType = "distribution"
)

// Reasons for which an element of a metric container is dropped; its neighbours are not concerned.
const (
	// ReasonMetricNoObject: the element is no JSON object.
	ReasonMetricNoObject Reason = "metric_no_object"
	// ReasonMetricNoName: no name.
	ReasonMetricNoName Reason = "metric_no_name"
	// ReasonMetricUnknownType: neither counter, gauge nor distribution, so that nobody can tell how values add up.
	ReasonMetricUnknownType Reason = "metric_unknown_type"
	// ReasonMetricNoValue: no value, or none that is a finite number.
	ReasonMetricNoValue Reason = "metric_no_value"
	// ReasonMetricNegativeCounter: a counter only counts up; what goes down as well is a gauge.
	ReasonMetricNegativeCounter Reason = "metric_negative_counter"
)

// DecodeTraceMetrics decodes the payload of a "trace_metric" item. The error is a Discard.
//
// Sentry's ingest drops a container whose item_count is not the number of its elements, and elements without time or trace
// id. Here they are kept: a metric says something without them.
func DecodeTraceMetrics(payload []byte) (*MetricContainer, error) {
	c := &MetricContainer{}
	l := loose{s: scanner{data: payload}}
	found := false
	err := l.document(func(key string) {
		switch key {
		case "version":
			c.Version = l.int(key)
		case "ingest_settings":
			c.IngestSettings = l.ingestSettings()
		case "items":
			found = true
			l.list(key, func() { c.metric(&l) })
		default:
			l.s.skip()
		}
	})
	c.Flaws = l.flaws
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, discard(ReasonNothingUsable, "metric container without items")
	}
	return c, nil
}

// metric reads one element.
func (c *MetricContainer) metric(l *loose) {
	var m TraceMetric
	var value Optional[float64]
	isObject := l.s.peek() == '{'
	l.object("items", func(key string) {
		switch key {
		case "timestamp":
			m.Timestamp = l.time(key) // go writes RFC 3339 with nine digits, all others seconds
		case "trace_id":
			m.TraceID = l.traceID(key)
		case "span_id":
			m.SpanID = l.spanID(key)
		case "name":
			m.Name = l.text(key)
		case "type":
			m.Type = MetricType(l.text(key))
		case "value":
			value = l.float(key)
		case "unit":
			m.Unit = l.text(key)
		case "attributes":
			m.Attributes = l.attributes()
		default:
			l.s.skip()
		}
	})
	m.Value = value.Value
	switch {
	case l.s.err != nil:
	case !isObject:
		c.Lost = countLoss(c.Lost, ReasonMetricNoObject)
	case m.Name == "":
		c.Lost = countLoss(c.Lost, ReasonMetricNoName)
	case m.Type != MetricCounter && m.Type != MetricGauge && m.Type != MetricDistribution:
		c.Lost = countLoss(c.Lost, ReasonMetricUnknownType)
	case !value.Set:
		c.Lost = countLoss(c.Lost, ReasonMetricNoValue)
	case m.Type == MetricCounter && m.Value < 0:
		c.Lost = countLoss(c.Lost, ReasonMetricNegativeCounter)
	default:
		c.Metrics = append(c.Metrics, m)
	}
}

// countLoss adds one lost element to the list.
func countLoss(lost []Loss, reason Reason) []Loss {
	for i := range lost {
		if lost[i].Reason == reason {
			lost[i].Count++
			return lost
		}
	}
	return append(lost, Loss{reason, 1})
}
