// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// AddLogs stores a message of log records. It reports whether the message was small enough.
func (s *Store) AddLogs(logs plog.Logs, now time.Time) (stored bool, err error) {
	m := &Message{Signal: Logs, Arrived: now}
	fragments := fragmentsOf(m)
	for r, resource := range logs.ResourceLogs().All() {
		if r == 0 {
			m.project = projectOf(resource.Resource())
		}
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				fragments.of(record.TraceID(), service).addRecord(record)
			}
		}
	}
	if len(m.Fragments) == 0 {
		return true, nil
	}
	if m.otlp, err = (&plog.ProtoMarshaler{}).MarshalLogs(logs); err != nil {
		return false, fmt.Errorf("cannot encode log records: %w", err)
	}
	return s.add(m), nil
}

func (f *Fragment) addRecord(record plog.LogRecord) {
	at := uint64(RecordTime(record))
	if f.Records == 0 || at < f.start {
		f.start = at
	}
	f.end = max(f.end, at)
	f.Records++
}

// RecordTime returns the time of a log record, or else the time at which it was observed.
func RecordTime(record plog.LogRecord) pcommon.Timestamp {
	return cmp.Or(record.Timestamp(), record.ObservedTimestamp())
}
