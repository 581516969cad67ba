// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"os"
	"strings"
)

// LoadAverage returns the load average of the last minute, "" if the system is not Linux.
func LoadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(text), " ")
	return average
}
