// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator writes one chunk. Frames are numbers until they are written: a number is a place in the program.
type generator struct {
	rng     *rand.Rand
	out     []byte
	threads int

	stacks [][]int // root first, as places in frames
	frames []int   // the list as it will be written: place → frame; node repeats frames
}

// newGenerator starts from the same seed always: every run sees the same bytes.
func newGenerator(threads int) *generator {
	return &generator{rng: rand.New(rand.NewPCG(2026, 5)), threads: threads}
}

// callTree makes stacks that share callers: each takes over half or more of an earlier one from the root on, and goes on
// with calls of its own, some of them to frames no stack had before.
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

// call picks a frame: one never called before while there are fewer than wanted, then mostly the popular ones.
func (g *generator) call(wanted int) int {
	if len(g.frames) < max(wanted, 1) {
		g.frames = append(g.frames, len(g.frames))
		return len(g.frames) - 1
	}
	return g.skewed(len(g.frames))
}

// skewed draws below n, the small ones far more often.
func (g *generator) skewed(n int) int {
	u := g.rng.Float64()
	return int(u * u * u * float64(n))
}

// everyNode makes paths of the given depth, and a stack of each beginning of a path.
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

// copyFrames gives each stack copies of its frames, except for the callers it has in common with the stack before, and for
// the given share of the others.
func (g *generator) copyFrames(reuse float64) {
	var written []int          // place → frame
	latest := map[int]int{}    // frame → its latest place
	var previous, places []int // the stack before: its frames and their places
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

// thread is the id of a thread as text.
type thread func(i int) string

func smallThread(i int) string { return strconv.Itoa(i * 256) }

func pythonThread(i int) string { return strconv.Itoa(140100440659648 + i*8392704) }

// writeSamples lets the threads take turns. Each stays in its stack most of the time, some nearly always, and has its own
// part of the stacks.
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

// decimal prints nanoseconds as seconds, as doubles are printed: without zeros at the end.
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
