// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Lines of /proc/PID/status: peak resident memory, and resident memory without files.
var (
	vmHWM   = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)
	rssAnon = regexp.MustCompile(`RssAnon:\s+(\d+) kB`)
)

// RequirePeakMemory is PeakMemory of a collector that must be running.
func (c *Collector) RequirePeakMemory(t testing.TB) int {
	t.Helper()
	require.True(t, c.Running(), "the collector lives")
	return c.PeakMemory()
}

// PeakMemory returns the peak resident memory in MiB, 0 if the system is not Linux.
func (c *Collector) PeakMemory() int { return c.memory(vmHWM) }

// memory returns a line of /proc/PID/status in MiB, or 0.
func (c *Collector) memory(line *regexp.Regexp) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.process.Process.Pid))
	if err != nil {
		return 0
	}
	match := line.FindSubmatch(status)
	if match == nil {
		return 0 // it is just ending
	}
	kilobytes, _ := strconv.Atoi(string(match[1]))
	return kilobytes >> 10
}

// ResetPeakMemory resets the peak to the present memory.
func (c *Collector) ResetPeakMemory() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", c.process.Process.Pid), []byte("5"), 0)
}

// CPUTime returns the CPU time of the collector so far, user and system.
func (c *Collector) CPUTime(t testing.TB) (total time.Duration) {
	const (
		tick         = time.Second / 100 // of /proc, on every architecture
		utime, stime = 14 - 3, 15 - 3    // fields by proc(5), which counts from 1, after pid and command
	)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.process.Process.Pid))
	require.NoError(t, err, "needs /proc")
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, field := range []int{utime, stime} {
		ticks, err := strconv.Atoi(fields[field])
		require.NoError(t, err)
		total += time.Duration(ticks) * tick
	}
	return total
}

// Worked returns the CPU time of the collector since Start.
func (c *Collector) Worked(t testing.TB) time.Duration { return c.CPUTime(t) - c.started }

// memoryKill is the memory in MiB at which a collector is killed, so that a failing test does not
// exhaust the machine.
const memoryKill = 4096

// limitMemory makes the kernel refuse the collector much more memory than its limit, if prlimit is
// installed; Go's runtime then exits. RLIMIT_DATA also counts memory that the runtime has returned
// to the system and may use again, up to a fifth of it with a full GOMEMLIMIT; a container's limit
// does not. guardMemory enforces the limit itself.
func (c *Collector) limitMemory() {
	c.limit = cmp.Or(c.limit, memoryKill)
	_ = exec.Command("prlimit", "--pid", strconv.Itoa(c.process.Process.Pid), fmt.Sprintf("--data=%d", (c.limit+c.limit/4)<<20)).Run()
}

// guardMemory kills a collector whose memory exceeds its limit, as the kernel kills a container:
// files in memory do not count, because the kernel can drop them. Stop then reports the exit.
func (c *Collector) guardMemory() {
	for tick := time.Tick(10 * time.Millisecond); ; {
		select {
		case <-c.exited:
			return
		case <-tick:
			if used := c.memory(rssAnon); used > c.limit {
				fmt.Fprintf(c.Log, "\nended by the test: %d MiB of memory\n", used)
				_ = c.process.Process.Kill()
				return
			}
		}
	}
}
