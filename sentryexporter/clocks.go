// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"sync/atomic"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// clocks states which kinds of profiles were sent to a destination. A span refers to one profiler
// session: that of the CPU profiles or, if there are only wall-clock profiles, that of those.
type clocks struct{ cpu, wall atomic.Bool }

func (c *clocks) add(of attr.Clocks) {
	if of.CPU {
		c.cpu.Store(true)
	}
	if of.Wall {
		c.wall.Store(true)
	}
}

func (c *clocks) onlyWall() bool { return c.wall.Load() && !c.cpu.Load() }
