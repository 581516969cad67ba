// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"cmp"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func translateLogs(t *Translation, item *sentry.Item) Result {
	logs, err := event.DecodeLogs(item.Payload, item.Header.ItemCount)
	if err != nil {
		return unusable(err)
	}
	return Result{Elements: logs.Lost, Fields: logs.Flaws, Deliveries: one(pipeline.Logs(fromsentry.LogsToLogs(logs, t.source)))}
}

func translateEvent(t *Translation, item *sentry.Item) Result {
	return eventWith(t, item, fromsentry.EventToLogs)
}

func translateFeedback(t *Translation, item *sentry.Item) Result {
	return eventWith(t, item, fromsentry.FeedbackToLogs)
}

// eventWith translates an item in the format of an event.
func eventWith(t *Translation, item *sentry.Item, toLogs func(*event.ErrorEvent, fromsentry.Source) plog.Logs) Result {
	event, err := event.DecodeEvent(item.Payload)
	if err != nil {
		return unusable(err)
	}
	ids := t.identity.ofItem(item.Header.Type, cmp.Or(event.EventID, t.envelope.Header.EventID)) // PHP sends it only in the header
	return Result{Fields: event.Flaws, Deliveries: one(pipeline.Logs(toLogs(event, t.source)), ids...)}
}

func translateUserReport(t *Translation, item *sentry.Item) Result {
	report, err := event.DecodeUserReport(item.Payload)
	if err != nil {
		return unusable(err)
	}
	return Result{Fields: report.Flaws, Deliveries: one(pipeline.Logs(fromsentry.UserReportToLogs(report, t.source)))}
}

// translateCheckIn translates a check-in to a log record and a metric.
func translateCheckIn(t *Translation, item *sentry.Item) Result {
	checkIn, err := event.DecodeCheckIn(item.Payload)
	if err != nil {
		return unusable(err)
	}
	out := Result{Fields: checkIn.Flaws}
	if t.has(pipeline.SignalLogs) {
		out.Deliveries = one(pipeline.Logs(fromsentry.CheckInToLogs(checkIn, t.source)))
	}
	if t.has(pipeline.SignalMetrics) {
		out.Deliveries = append(out.Deliveries, one(pipeline.Metrics(fromsentry.CheckInToMetrics(checkIn, t.source)))...)
	}
	return out
}

// describeItem translates an item that has no equivalent in OTLP to a log record that describes it,
// without its content.
func describeItem(t *Translation, item *sentry.Item) Result {
	return Result{Deliveries: one(pipeline.Logs(fromsentry.ItemToLogs(item.Header, len(item.Payload), t.source)))}
}
