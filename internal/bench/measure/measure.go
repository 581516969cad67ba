// Package measure compares pieces of work by the CPU time they take, on a machine that may be busy with other things.
//
// The contestants take turns, round by round, so that a slow minute is slow for all of them; what is reported is the median
// of the rounds. CPU time of the whole process counts, not the clock: it includes the garbage collector's own threads, and
// leaves out the time that others had the processor.
package measure

import (
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Contestant is one of the pieces of work that are compared.
type Contestant struct {
	Name string
	Work func()
}

// Result is what one contestant took.
type Result struct {
	Name   string
	Rounds []time.Duration // CPU time for the work once, by round
}

// turn is how long a contestant works before the next one's turn: long against the resolution of CPU time (a scheduler tick
// at worst) and against one garbage collection.
const turn = 150 * time.Millisecond

// Race lets the contestants take turns.
func Race(rounds int, contestants ...Contestant) []Result {
	results := make([]Result, len(contestants))
	times := make([]int, len(contestants)) // how often the work is done in one turn
	for i, c := range contestants {
		results[i].Name = c.Name
		once := CPU(c.Work) // fills pools and compiles decoders, too
		if once < turn {
			once = CPU(c.Work)
		}
		times[i] = 1 + int(turn/max(once, time.Microsecond))
	}
	for range rounds {
		for i, c := range contestants {
			took := CPU(func() {
				for range times[i] {
					c.Work()
				}
			})
			results[i].Rounds = append(results[i].Rounds, took/time.Duration(times[i]))
		}
	}
	return results
}

// CPU is the processor time that the process takes while f runs. It starts from a collected heap.
func CPU(f func()) time.Duration {
	runtime.GC()
	before := ProcessTime()
	f()
	return ProcessTime() - before
}

// ProcessTime is the processor time of the whole process so far.
func ProcessTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // impossible: the arguments are right
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Median is the middle round.
func (r Result) Median() time.Duration { return median(r.Rounds) }

// Over is how many times as much as the other one it took: the middle of the ratios round by round, which is steadier than
// the ratio of the medians when the machine changes its speed in between.
func (r Result) Over(other Result) float64 {
	ratios := make([]float64, len(r.Rounds))
	for i := range r.Rounds {
		ratios[i] = float64(r.Rounds[i]) / float64(other.Rounds[i])
	}
	return median(ratios)
}

func median[T float64 | time.Duration](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
