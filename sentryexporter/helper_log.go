// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"strings"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// helperLog is the log of exporterhelper. It limits the messages about retries, of which there is
// one for each attempt. With a storage, it replaces the errors about requests that a shutdown
// interrupts by a count: exporterhelper logs for each of them that it drops the data, although the
// request stays in the storage. Other messages about dropped data pass: exporterhelper does not
// count all of it.
type helperLog struct {
	zapcore.Core
	limited     zapcore.Core
	interrupted *atomic.Int64 // nil = no storage
}

// newHelperLog returns a logger for exporterhelper. limited is the same logger with a limit.
func newHelperLog(logger, limited *zap.Logger, interrupted *atomic.Int64) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return helperLog{core, limited.Core(), interrupted}
	}))
}

// With implements zapcore.Core.
func (l helperLog) With(fields []zapcore.Field) zapcore.Core {
	return helperLog{l.Core.With(fields), l.limited.With(fields), l.interrupted}
}

// Check implements zapcore.Core.
func (l helperLog) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	switch {
	case strings.HasPrefix(entry.Message, "Exporting failed. Will retry"):
		return l.limited.Check(entry, checked)
	case l.interrupted != nil && strings.HasPrefix(entry.Message, "Exporting failed. Dropping data.") && l.Enabled(entry.Level):
		return checked.AddCore(entry, l)
	}
	return l.Core.Check(entry, checked)
}

// Write implements zapcore.Core.
func (l helperLog) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	for _, field := range fields {
		if err, is := field.Interface.(error); is && strings.HasPrefix(err.Error(), "interrupted due to shutdown") {
			l.interrupted.Add(1)
			return nil
		}
	}
	return l.Core.Write(entry, fields)
}
