// SPDX-License-Identifier: Apache-2.0

//go:build load || faults

package e2e

import (
	"os"
	"strings"
)

// loadAverage of the last minute, as Linux says it.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(text), " ")
	return average
}
