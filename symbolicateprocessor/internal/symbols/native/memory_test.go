// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMemory indexes the files of SYMBOL_FILES one after another, and reports the rate and the peak
// memory of the process.
func TestMemory(t *testing.T) {
	files := filepath.SplitList(os.Getenv("SYMBOL_FILES"))
	if len(files) == 0 {
		t.Skip("set SYMBOL_FILES to a list of files with symbols, separated by colons")
	}
	var read, index int64
	started := time.Now()
	for _, path := range files {
		file, err := os.Open(path)
		require.NoError(t, err)
		info, err := file.Stat()
		require.NoError(t, err)
		objects, err := Identify(file, info.Size())
		require.NoError(t, err)
		out, err := os.Create(filepath.Join(t.TempDir(), "index"))
		require.NoError(t, err)
		work := newWork(t, objects[0])
		summary, err := Index(work, out, file, objects[0])
		require.NoError(t, err, path)
		written, err := out.Stat()
		require.NoError(t, err)
		t.Logf("%s: %d MB, %d units, %d symbols, index of %d kB, %.1f steps and %.1f bytes of memory per byte, incomplete: %v", filepath.Base(path), info.Size()>>20, summary.Units, summary.Symbols, written.Size()>>10,
			float64(work.Steps())/float64(info.Size()), float64(work.Peak())/float64(info.Size()), summary.Incomplete)
		read, index = read+info.Size(), index+written.Size()
		_, _ = file.Close(), out.Close()
	}
	t.Logf("%d MB of symbols, index %d MB, %.0f MB/s, peak memory %d MB", read>>20, index>>20, float64(read>>20)/time.Since(started).Seconds(), peakMB(t))
}

// peakMB returns the largest resident memory of the process.
func peakMB(t *testing.T) int {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kB, _ := strconv.Atoi(strings.Fields(value)[0])
			return kB >> 10
		}
	}
	return 0
}
