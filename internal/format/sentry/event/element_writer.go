// SPDX-License-Identifier: Apache-2.0

package event

import (
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// append writes an element of a log container. Sentry requires time, trace ID, level and body.
func (l *Log) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendTime(dst, "timestamp", l.Timestamp)
	dst = jsonscan.AppendTextAlways(dst, "trace_id", l.TraceID)
	dst = jsonscan.AppendText(dst, "span_id", l.SpanID)
	dst = jsonscan.AppendTextAlways(dst, "level", l.Level)
	if l.SeverityNumber.Set {
		dst = strconv.AppendInt(jsonscan.AppendKey(dst, "severity_number"), l.SeverityNumber.Value, 10)
	}
	dst = jsonscan.AppendTextAlways(dst, "body", l.Body)
	return append(appendAttributes(dst, l.Attributes, l.Shared), '}')
}

// append writes an element of a metric container. Sentry requires time, trace ID, name, type and
// value.
func (m *TraceMetric) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendTime(dst, "timestamp", m.Timestamp)
	dst = jsonscan.AppendTextAlways(dst, "trace_id", m.TraceID)
	dst = jsonscan.AppendText(dst, "span_id", m.SpanID)
	dst = jsonscan.AppendTextAlways(dst, "name", m.Name)
	dst = jsonscan.AppendTextAlways(dst, "type", string(m.Type))
	dst = jsonscan.AppendFloat(jsonscan.AppendKey(dst, "value"), m.Value)
	dst = jsonscan.AppendText(dst, "unit", m.Unit)
	return append(appendAttributes(dst, m.Attributes, m.Shared), '}')
}
