// SPDX-License-Identifier: Apache-2.0

package e2e

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

var vmHWM = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory is the most memory the collector has had at once, in MiB; 0 where the system does not say (only Linux does).
func (c *collector) peakMemory(t testing.TB) int {
	t.Helper()
	require.True(t, c.running(), "the collector lives")
	return c.peak()
}

func (c *collector) peak() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.process.Process.Pid))
	if err != nil {
		return 0
	}
	match := vmHWM.FindSubmatch(status)
	if match == nil {
		return 0 // it is just ending
	}
	kilobytes, _ := strconv.Atoi(string(match[1]))
	return kilobytes >> 10
}

// cpu is the CPU time of the collector so far, in user and system mode.
func (c *collector) cpu(t testing.TB) (total time.Duration) {
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

// attackLimit is how many MiB of data the kernel allows a collector under an attack, unless the attack may take more.
const attackLimit = 1024

// limitFor is the limit under an attack that may have so many MiB.
func limitFor(memory int) int {
	if memory > attackLimit {
		return memoryKill
	}
	return attackLimit
}

// memoryKill is when an attack has succeeded and must not be allowed to take the machine along, in MiB.
const memoryKill = 4096

// limitMemory has the kernel refuse the collector more than that, where it can. Go's runtime then ends the process.
func (c *collector) limitMemory() {
	_ = exec.Command("prlimit", "--pid", strconv.Itoa(c.process.Process.Pid), fmt.Sprintf("--data=%d", cmp.Or(c.limit, memoryKill)<<20)).Run()
}

// guardMachine ends a collector that grows without bounds; the test then finds it gone.
func (c *collector) guardMachine() {
	for tick := time.Tick(50 * time.Millisecond); ; {
		select {
		case <-c.exited:
			return
		case <-tick:
			if peak := c.peak(); peak > memoryKill {
				fmt.Fprintf(c.log, "\nended by the test: %d MiB of memory\n", peak)
				_ = c.process.Process.Kill()
				return
			}
		}
	}
}
