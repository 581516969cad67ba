// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator writes a chunk. Until it is written, a frame is a number that represents a position in
// the program.
type generator struct {
	rng     *rand.Rand
	out     []byte
	threads int

	stacks [][]int // root first, as positions in frames
	frames []int   // the written list: position → frame; Node repeats frames
}

// newGenerator uses the same seed in every run, so that payloads are identical.
func newGenerator(threads int) *generator {
	return &generator{rng: rand.New(rand.NewPCG(2026, 5)), threads: threads}
}

// callTree creates stacks that share callers: each copies at least half of an earlier stack, from
// the root, and continues with its own calls, some to new frames.
func (g *generator) callTree(stacks, minDepth, maxDepth, frames int) {
	for i := range stacks {
		depth := minDepth + g.rng.IntN(maxDepth-minDepth+1)
		stack := make([]int, 0, depth)
		if i > 0 {
			parent := g.stacks[g.rng.IntN(i)]
			shared := min(len(parent)-1, depth/2+g.rng.IntN(depth-depth/2))
			stack = append(stack, parent[:shared]...)
		}
		for len(stack) < depth {
			stack = append(stack, g.call(frames*(i+1)/stacks))
		}
		g.stacks = append(g.stacks, stack)
	}
}

// call selects a frame: a new one until there are as many as wanted, then mostly popular ones.
func (g *generator) call(wanted int) int {
	if len(g.frames) < max(wanted, 1) {
		g.frames = append(g.frames, len(g.frames))
		return len(g.frames) - 1
	}
	return g.skewed(len(g.frames))
}

// skewed returns a random number below n; small numbers are far more frequent.
func (g *generator) skewed(n int) int {
	u := g.rng.Float64()
	return int(u * u * u * float64(n))
}

// everyNode creates paths of this depth, and one stack for each prefix of a path.
func (g *generator) everyNode(paths, depth int) {
	for range paths {
		path := make([]int, 0, depth)
		for len(path) < depth {
			path = append(path, g.call(len(g.stacks)/8))
			g.stacks = append(g.stacks, path[:len(path):len(path)])
		}
	}
}

func (g *generator) randomStacks(stacks, depth, frames int) {
	for i := range frames {
		g.frames = append(g.frames, i)
	}
	for range stacks {
		stack := make([]int, depth)
		for i := range stack {
			stack[i] = g.rng.IntN(frames)
		}
		g.stacks = append(g.stacks, stack)
	}
}

// copyFrames gives each stack its own copies of its frames, except for the callers that it shares
// with the previous stack and for a fraction of the other frames (reuse).
func (g *generator) copyFrames(reuse float64) {
	var written []int          // position → frame
	latest := map[int]int{}    // frame → its latest position
	var previous, places []int // frames and positions of the previous stack
	for i, stack := range g.stacks {
		copied := make([]int, len(stack))
		common := true
		for j, frame := range stack {
			place, known := latest[frame]
			common = common && j < len(previous) && previous[j] == frame
			switch {
			case common:
				place = places[j]
			case !known || g.rng.Float64() >= reuse:
				place = len(written)
				written = append(written, frame)
				latest[frame] = place
			}
			copied[j] = place
		}
		previous, places = stack, copied
		g.stacks[i] = copied
	}
	g.frames = written
}

func (g *generator) writef(format string, args ...any) { g.out = fmt.Appendf(g.out, format, args...) }

func (g *generator) open(platform, sdk, version, images string) {
	g.writef(`{"version":"2","platform":%q,"chunk_id":"%032x","profiler_id":"%032x",`, platform, g.rng.Uint64(), g.rng.Uint64())
	g.writef(`"release":"shop@2.7.0","environment":"production","client_sdk":{"name":%q,"version":%q},`, sdk, version)
	g.writef(`"debug_meta":{"images":[%s]},"profile":{`, images)
}

// thread returns the ID of a thread as text.
type thread func(i int) string

func smallThread(i int) string { return strconv.Itoa(i * 256) }

func pythonThread(i int) string { return strconv.Itoa(140100440659648 + i*8392704) }

// writeSamples writes samples of the threads in turn. Each thread usually repeats its stack, some
// threads nearly always, and uses its own part of the stacks.
func (g *generator) writeSamples(n int, format string, id thread, decimals int) {
	current := make([]int, g.threads)
	g.eachSample(n, format, id, decimals, func(_, thread int) int {
		if restless := 0.08 * float64(1+thread); g.rng.Float64() < restless {
			own := len(g.stacks) * thread / g.threads
			current[thread] = (own + g.skewed(1+len(g.stacks)/2)) % len(g.stacks)
		}
		return current[thread]
	})
}

func (g *generator) writeSamplesInOrder(n int, format string, id thread, decimals int) {
	g.eachSample(n, format, id, decimals, func(sample, _ int) int { return sample % len(g.stacks) })
}

func (g *generator) eachSample(n int, format string, id thread, decimals int, stack func(sample, thread int) int) {
	g.writef(`"samples":[`)
	nanos := int64(1_795_223_959_185_233_812)
	for i := range n {
		thread := i % g.threads
		if thread == 0 {
			nanos += 9_600_000 + g.rng.Int64N(1_000_000)
		}
		g.separate(i)
		g.writef(format, decimal(nanos, decimals), id(thread), stack(i, thread))
	}
	g.writef(`],`)
}

// decimal formats nanoseconds as seconds in the notation of doubles, without trailing zeros.
func decimal(nanos int64, decimals int) string {
	seconds := fmt.Sprintf("%d.%09d", nanos/1e9, nanos%1e9)[:11+decimals]
	return strings.TrimSuffix(strings.TrimRight(seconds, "0"), ".")
}

func (g *generator) writeStacks() {
	g.writef(`"stacks":[`)
	for i, stack := range g.stacks {
		g.separate(i)
		g.writef(`[`)
		for j := range stack {
			g.separate(j)
			g.out = strconv.AppendInt(g.out, int64(stack[len(stack)-1-j]), 10)
		}
		g.writef(`]`)
	}
	g.writef(`],`)
}

func (g *generator) writeFrames(frame func(i int)) {
	g.writef(`"frames":[`)
	for i, number := range g.frames {
		g.separate(i)
		frame(number)
	}
	g.writef(`],`)
}

func (g *generator) writeThreads(id thread, format string) {
	g.writef(`"thread_metadata":{`)
	for i := range g.threads {
		g.separate(i)
		g.writef(`"%s":`+format, id(i), i)
	}
	g.writef(`}`)
}

func (g *generator) separate(i int) {
	if i > 0 {
		g.out = append(g.out, ',')
	}
}

func (g *generator) close(name string, samples int) Payload {
	g.writef(`}}`)
	return Payload{Name: name, JSON: g.out, Samples: samples}
}
