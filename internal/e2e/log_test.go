// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// checkLog: the log has nothing of what clients send, least of all their keys, and no panics.
func checkLog(t testing.TB, c *collector, secrets ...string) {
	t.Helper()
	log := c.log.String()
	for _, text := range append(secrets, "panic", "DPANIC", "goroutine ") {
		assert.NotContains(t, strings.ToLower(log), strings.ToLower(text), "in the log of the collector")
	}
}
