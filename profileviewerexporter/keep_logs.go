// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// keepLogs keeps a message of log records.
func (v *viewer) keepLogs(ctx context.Context, logs plog.Logs) error {
	m := &message{signal: signalLogs, arrived: time.Now()}
	shares := sharesOf(m)
	for r, resource := range logs.ResourceLogs().All() {
		if r == 0 {
			m.project = projectOf(resource.Resource())
		}
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				shares.of(record.TraceID(), service).addRecord(record)
			}
		}
	}
	if len(m.traces) == 0 {
		return nil
	}
	var err error
	if m.otlp, err = (&plog.ProtoMarshaler{}).MarshalLogs(logs); err != nil {
		return consumererror.NewPermanent(fmt.Errorf("cannot keep log records: %w", err))
	}
	v.keep(ctx, m)
	return nil
}

func (s *traceShare) addRecord(record plog.LogRecord) {
	at := uint64(recordTime(record))
	if s.logs == 0 || at < s.start {
		s.start = at
	}
	s.end = max(s.end, at)
	s.logs++
}

// recordTime is when it happened, or else when it was seen.
func recordTime(record plog.LogRecord) pcommon.Timestamp {
	return cmp.Or(record.Timestamp(), record.ObservedTimestamp())
}
