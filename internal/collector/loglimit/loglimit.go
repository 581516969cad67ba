// SPDX-License-Identifier: Apache-2.0

// Package loglimit keeps logs readable when a peer is wrong in every request: counters tell how often.
package loglimit

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// PerMinute is how many of one message pass: enough to see that it goes on, and with whom.
const PerMinute = 5

// Wrap lets a few of each message pass per minute.
func Wrap(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, PerMinute, 0)
	}))
}
