// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// LogsPerMinute is the number of logs with the same message that pass in a minute: enough to see
// that a problem persists, and which peers it affects.
const LogsPerMinute = 5

// LimitLogs returns a logger that passes at most LogsPerMinute logs with the same message. It keeps
// logs readable when every request of a peer is invalid; counters have the totals.
func LimitLogs(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, LogsPerMinute, 0)
	}))
}
