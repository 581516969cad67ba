// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
)

// AddLogs stores a message of log records. It reports whether the message was small enough.
func (s *Store) AddLogs(ctx context.Context, logs plog.Logs, now time.Time) (stored bool, err error) {
	m := &Message{Signal: Logs, Arrived: now, Tenant: tenant.FromContext(ctx)}
	m.summarizeLogs(logs)
	if m.empty() {
		return true, nil
	}
	if m.otlp, err = (&plog.ProtoMarshaler{}).MarshalLogs(logs); err != nil {
		return false, fmt.Errorf("cannot encode log records: %w", err)
	}
	return s.add(m), nil
}

func (m *Message) summarizeLogs(logs plog.Logs) {
	fragments := fragmentsOf(m)
	for _, resource := range logs.ResourceLogs().All() {
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				fragments.of(record.TraceID(), service).addRecord(record)
			}
		}
	}
}

func (f *Fragment) addRecord(record plog.LogRecord) {
	at := uint64(RecordTime(record))
	if f.Records == 0 || at < f.start {
		f.start = at
	}
	f.end = max(f.end, at)
	f.Records++
	if IsError(record) {
		f.Exceptions++
	}
}

// IsError reports whether a log record is an error event of Sentry, or has an exception.
func IsError(record plog.LogRecord) bool {
	item, ok := record.Attributes().Get(semconv.SentryItemType)
	return ok && item.AsString() == "event" || IsException(record.Attributes())
}

// IsException reports whether attributes describe an exception.
func IsException(attributes pcommon.Map) bool {
	return exception.Read(attributes) != exception.Texts{}
}

// RecordTime returns the time of a log record, or else the time at which it was observed.
func RecordTime(record plog.LogRecord) pcommon.Timestamp {
	return cmp.Or(record.Timestamp(), record.ObservedTimestamp())
}
