// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"cmp"
	"context"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func (in *ingestion) translateLogs(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	logs, err := event.DecodeLogs(item.Payload, item.Header.ItemCount)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, logs.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, logs.Flaws)
	return []delivery{in.logsDelivery(item.Header.Type, fromsentry.LogsToLogs(logs, in.source()))}, nil
}

func (in *ingestion) translateEvent(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	return in.eventWith(ctx, item, fromsentry.EventToLogs)
}

func (in *ingestion) translateFeedback(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	return in.eventWith(ctx, item, fromsentry.FeedbackToLogs)
}

// eventWith translates an item that has the form of an event.
func (in *ingestion) eventWith(ctx context.Context, item *sentry.Item, toLogs func(*event.ErrorEvent, fromsentry.Source) plog.Logs) ([]delivery, *discard.Error) {
	event, err := event.DecodeEvent(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.fieldsLost(ctx, item.Header.Type, event.Flaws)
	d := in.logsDelivery(item.Header.Type, toLogs(event, in.source()))
	d.ids = in.itemIDs(item.Header.Type, cmp.Or(event.EventID, in.envelope.Header.EventID)) // php has it in the header only
	return []delivery{d}, nil
}

func (in *ingestion) translateUserReport(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	report, err := event.DecodeUserReport(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.fieldsLost(ctx, item.Header.Type, report.Flaws)
	return []delivery{in.logsDelivery(item.Header.Type, fromsentry.UserReportToLogs(report, in.source()))}, nil
}

// translateCheckIn makes a log record and a metric of a check-in.
func (in *ingestion) translateCheckIn(ctx context.Context, item *sentry.Item) (deliveries []delivery, discard *discard.Error) {
	checkIn, err := event.DecodeCheckIn(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.fieldsLost(ctx, item.Header.Type, checkIn.Flaws)
	if in.nextLogs != nil {
		deliveries = append(deliveries, in.logsDelivery(item.Header.Type, fromsentry.CheckInToLogs(checkIn, in.source())))
	}
	if in.nextMetrics != nil {
		deliveries = append(deliveries, in.metricsDelivery(item.Header.Type, fromsentry.CheckInToMetrics(checkIn, in.source())))
	}
	return deliveries, nil
}

// describe makes a log record of an item that nothing here understands: what it was, not what was in it.
func (in *ingestion) describe(_ context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	logs := fromsentry.ItemToLogs(item.Header, len(item.Payload), in.source())
	return []delivery{in.logsDelivery(item.Header.Type, logs)}, nil
}
