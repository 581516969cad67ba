// SPDX-License-Identifier: Apache-2.0

package timelinetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

const (
	largeThreads   = 11
	largeStacks    = 20_000
	largeFunctions = 2_000
)

// Large returns a message with one profile of n samples: three quarters of thread 1, the others of
// ten threads. A stack has about 40 functions, and a thread stays in it or moves to a similar one.
func Large(service string, n int) pprofile.Profiles {
	random := rand.New(rand.NewPCG(1, 2))
	stacks := []string{"main"}
	for i := 1; i < largeStacks; i++ {
		caller := stacks[i-1-random.IntN(min(i, 1000))]
		stacks = append(stacks, fmt.Sprintf("%s;f%d", caller, random.IntN(largeFunctions)))
	}
	var samples []Sample
	indices := map[[2]int]int{} // in samples, by thread and stack
	at, now := [largeThreads]int{}, [largeThreads]time.Duration{}
	for i := range n {
		thread := 0
		if i%4 == 3 {
			thread = 1 + i/4%(largeThreads-1)
		}
		if random.IntN(3) == 0 {
			at[thread] = (at[thread] + largeStacks + random.IntN(101) - 49) % largeStacks
		}
		key := [2]int{thread, at[thread]}
		index, known := indices[key]
		if !known {
			index = len(samples)
			indices[key] = index
			samples = append(samples, Sample{Thread: int64(thread + 1), Stack: stacks[at[thread]]})
		}
		samples[index].At = append(samples[index].At, now[thread])
		now[thread] += Interval
	}
	return Message(service, Wall, samples...)
}
