// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"cmp"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func (t *translation) logs(item *sentry.Item) translated {
	logs, err := event.DecodeLogs(item.Payload, item.Header.ItemCount)
	if err != nil {
		return unusable(err)
	}
	return translated{elements: logs.Lost, fields: logs.Flaws, deliveries: one(pipeline.Logs(fromsentry.LogsToLogs(logs, t.source)))}
}

func (t *translation) event(item *sentry.Item) translated {
	return t.eventWith(item, fromsentry.EventToLogs)
}

func (t *translation) feedback(item *sentry.Item) translated {
	return t.eventWith(item, fromsentry.FeedbackToLogs)
}

// eventWith translates an item in the format of an event.
func (t *translation) eventWith(item *sentry.Item, toLogs func(*event.ErrorEvent, fromsentry.Source) plog.Logs) translated {
	event, err := event.DecodeEvent(item.Payload)
	if err != nil {
		return unusable(err)
	}
	ids := t.itemIDs(item.Header.Type, cmp.Or(event.EventID, t.envelope.Header.EventID)) // PHP sends it only in the header
	return translated{fields: event.Flaws, deliveries: one(pipeline.Logs(toLogs(event, t.source)), ids...)}
}

func (t *translation) userReport(item *sentry.Item) translated {
	report, err := event.DecodeUserReport(item.Payload)
	if err != nil {
		return unusable(err)
	}
	return translated{fields: report.Flaws, deliveries: one(pipeline.Logs(fromsentry.UserReportToLogs(report, t.source)))}
}

// checkIn translates a check-in to a log record and a metric.
func (t *translation) checkIn(item *sentry.Item) translated {
	checkIn, err := event.DecodeCheckIn(item.Payload)
	if err != nil {
		return unusable(err)
	}
	out := translated{fields: checkIn.Flaws}
	if t.has(pipeline.SignalLogs) {
		out.deliveries = one(pipeline.Logs(fromsentry.CheckInToLogs(checkIn, t.source)))
	}
	if t.has(pipeline.SignalMetrics) {
		out.deliveries = append(out.deliveries, one(pipeline.Metrics(fromsentry.CheckInToMetrics(checkIn, t.source)))...)
	}
	return out
}

// describe translates an item that has no equivalent in OTLP to a log record that describes it,
// without its content.
func (t *translation) describe(item *sentry.Item) translated {
	return translated{deliveries: one(pipeline.Logs(fromsentry.ItemToLogs(item.Header, len(item.Payload), t.source)))}
}
