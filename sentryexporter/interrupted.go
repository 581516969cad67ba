// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"strings"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// interruptions replaces the errors of exporterhelper about requests that a shutdown interrupts
// by a count. It logs for each of them that it drops the data, also if the request stays in the
// storage of the queue.
type interruptions struct {
	zapcore.Core
	count *atomic.Int64
}

// countInterruptions returns a logger for exporterhelper, with a storage.
func countInterruptions(logger *zap.Logger, count *atomic.Int64) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core { return interruptions{core, count} }))
}

// With implements zapcore.Core.
func (i interruptions) With(fields []zapcore.Field) zapcore.Core {
	return interruptions{i.Core.With(fields), i.count}
}

// Check implements zapcore.Core.
func (i interruptions) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if strings.HasPrefix(entry.Message, "Exporting failed. Dropping data.") && i.Enabled(entry.Level) {
		return checked.AddCore(entry, i)
	}
	return i.Core.Check(entry, checked)
}

// Write implements zapcore.Core.
func (i interruptions) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	for _, field := range fields {
		if err, is := field.Interface.(error); is && strings.HasPrefix(err.Error(), "interrupted due to shutdown") {
			i.count.Add(1)
			return nil
		}
	}
	return i.Core.Write(entry, fields)
}
