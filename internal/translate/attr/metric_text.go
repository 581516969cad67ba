// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"iter"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// MetricText describes a metric of this project.
type MetricText struct{ Name, Description, Unit string }

func NewMetric(scope pmetric.ScopeMetrics, text MetricText) pmetric.Metric {
	metric := scope.Metrics().AppendEmpty()
	metric.SetName(text.Name)
	metric.SetDescription(text.Description)
	metric.SetUnit(text.Unit)
	return metric
}

// The final statuses of a session.
const (
	StatusExited    = "exited"
	StatusErrored   = "errored" // exited with errors
	StatusAbnormal  = "abnormal"
	StatusCrashed   = "crashed"
	StatusUnhandled = "unhandled"
)

// The metrics of this project.
var (
	MetricSessionUpdates  = MetricText{semconv.MetricSentrySessionUpdates, "Updates of single sessions, by stated status", "{update}"}
	MetricSessionsStarted = MetricText{semconv.MetricSentrySessionStarted, "Sessions that began", "{session}"}
	MetricSessions        = MetricText{semconv.MetricSentrySessionCount, "Sessions that ended, by status", "{session}"}
	MetricSessionErrors   = MetricText{semconv.MetricSentrySessionErrors, "Errors in single sessions that ended", "{error}"}
	MetricSessionDuration = MetricText{semconv.MetricSentrySessionDuration, "Duration of single sessions", "s"}
	MetricCheckIns        = MetricText{semconv.MetricSentryCheckInCount, "Check-ins of scheduled jobs, by monitor and status", "{check_in}"}
	MetricCheckInDuration = MetricText{semconv.MetricSentryCheckInDuration, "Duration of runs of scheduled jobs", "s"}
	MetricDiscarded       = MetricText{semconv.MetricSentryClientReportDiscarded, "Data that SDKs did not send; bytes if the category ends in _byte", "1"}
)

// EachPoint visits the data points of a metric of any type.
func EachPoint(metric pmetric.Metric, visit func(attributes pcommon.Map, exemplars iter.Seq2[int, pmetric.Exemplar])) {
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		eachPoint(metric.Gauge().DataPoints().All(), visit)
	case pmetric.MetricTypeSum:
		eachPoint(metric.Sum().DataPoints().All(), visit)
	case pmetric.MetricTypeHistogram:
		eachPoint(metric.Histogram().DataPoints().All(), visit)
	case pmetric.MetricTypeExponentialHistogram:
		eachPoint(metric.ExponentialHistogram().DataPoints().All(), visit)
	case pmetric.MetricTypeSummary:
		for _, point := range metric.Summary().DataPoints().All() {
			visit(point.Attributes(), func(func(int, pmetric.Exemplar) bool) {})
		}
	}
}

func eachPoint[P interface {
	Attributes() pcommon.Map
	Exemplars() pmetric.ExemplarSlice
}](points iter.Seq2[int, P], visit func(attributes pcommon.Map, exemplars iter.Seq2[int, pmetric.Exemplar])) {
	for _, point := range points {
		visit(point.Attributes(), point.Exemplars().All())
	}
}
