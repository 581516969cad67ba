// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// race compares pieces of work by the CPU time they take, on a machine that may be busy with other things: they take turns, so
// that a slow second is slow for all of them. It gives the CPU time that each took for its work once.
func race(b *testing.B, contestants ...func()) []time.Duration {
	turn := 150 * time.Millisecond // long against the resolution of CPU time (a scheduler's tick at worst) and a garbage collection
	if testing.Short() {
		turn = time.Millisecond
	}
	took := make([]time.Duration, len(contestants))
	times := make([]int, len(contestants)) // how often the work is done in one turn
	for i, work := range contestants {
		once := cpuTime(work) // fills pools and compiles decoders, too
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

// report adds a ratio to the line of a benchmark, in place of the time that all contestants took together.
func report[T time.Duration | float64](b *testing.B, unit string, a, over T) {
	b.ReportMetric(0, "ns/op") // which leaves it away
	b.ReportMetric(float64(a)/float64(over), unit)
}

// cpuTime is the processor time that the process takes while f runs. It includes the garbage collector's own threads, and
// leaves out the time that others had the processor. It starts from a collected heap.
func cpuTime(f func()) time.Duration {
	runtime.GC()
	before := processTime()
	f()
	return processTime() - before
}

// processTime returns the CPU time of the process so far, and of its child processes that have ended.
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
