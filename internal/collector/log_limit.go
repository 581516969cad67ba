// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// LogsPerMinute is how many logs of one message pass: enough to see that it continues, and for
// which peers.
const LogsPerMinute = 5

// LimitLogs returns a logger that passes a few logs of each message per minute. It keeps logs
// readable when every request of a peer is invalid; counters have the totals.
func LimitLogs(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, LogsPerMinute, 0)
	}))
}
