// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// race compares the CPU times of several functions. They alternate, so that other load on the
// machine affects all of them. It returns the CPU time of one call of each.
func race(b *testing.B, contestants ...func()) []time.Duration {
	turn := 150 * time.Millisecond // long compared with the resolution of CPU time (at worst a scheduler tick) and with a garbage collection
	if !testsize.Full() {
		turn = time.Millisecond
	}
	took := make([]time.Duration, len(contestants))
	times := make([]int, len(contestants)) // calls in one turn
	for i, work := range contestants {
		once := cpuTime(work) // also fills pools and compiles decoders
		if once < turn {
			once = cpuTime(work)
		}
		times[i] = 1 + int(turn/max(once, time.Microsecond))
	}
	for b.Loop() {
		for i, work := range contestants {
			took[i] += cpuTime(func() {
				for range times[i] {
					work()
				}
			})
		}
	}
	for i := range took {
		took[i] /= time.Duration(b.N * times[i])
	}
	return took
}

// report adds a ratio to the output of a benchmark, and removes the total time of all contestants.
func report[T time.Duration | float64](b *testing.B, unit string, a, over T) {
	b.ReportMetric(0, "ns/op") // removes the column
	b.ReportMetric(float64(a)/float64(over), unit)
}

// cpuTime returns the CPU time of the process while f runs, starting with a collected heap. It
// includes the threads of the garbage collector.
func cpuTime(f func()) time.Duration {
	runtime.GC()
	before := processTime()
	f()
	return processTime() - before
}

// processTime returns the CPU time of the process so far, and of its child processes that have
// ended.
func processTime() (spent time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			panic(err) // impossible: the arguments are valid
		}
		spent += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return spent
}
