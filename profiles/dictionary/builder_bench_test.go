// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// patho: every sample a new stack, 200 deep, as the worst generated payload.
func BenchmarkBuildPatho(b *testing.B) {
	const stacks, depth, names = 57_000, 200, 3000
	benchmarkBuild(b, stacks, names, func(i int, stack []LocationIndex, locations []LocationIndex) []LocationIndex {
		stack = stack[:0]
		for k := range depth {
			stack = append(stack, locations[(i*31+k*k*7+(i>>k%16))%len(locations)])
		}
		return stack
	}, false)
}

// typical: as many samples, but a few thousand stacks about 40 deep.
func BenchmarkBuildTypical(b *testing.B) {
	const samples, depth, names, distinct = 57_000, 40, 3000, 3000
	benchmarkBuild(b, samples, names, func(i int, stack []LocationIndex, locations []LocationIndex) []LocationIndex {
		i %= distinct
		stack = stack[:0]
		for k := range depth {
			stack = append(stack, locations[(i*31+k*k*7)%len(locations)])
		}
		return stack
	}, true)
}

// small: one profile of a few frames, which is what a busy collector mostly sees. It shows the
// fixed cost.
func BenchmarkBuildSmall(b *testing.B) {
	const samples, depth, names, distinct = 100, 20, 50, 30
	benchmarkBuild(b, samples, names, func(i int, stack []LocationIndex, locations []LocationIndex) []LocationIndex {
		i %= distinct
		stack = stack[:0]
		for k := range depth {
			stack = append(stack, locations[(i*31+k*k*7)%len(locations)])
		}
		return stack
	}, false)
}

func benchmarkBuild(b *testing.B, samples, names int, stackOf func(int, []LocationIndex, []LocationIndex) []LocationIndex, hit bool) {
	functions, files := make([]string, names), make([]string, names)
	for i := range names {
		functions[i] = fmt.Sprintf("package/module%d.(*Type).method%d", i%97, i)
		files[i] = fmt.Sprintf("/srv/app/lib/package/module%d/file.py", i%97)
	}
	// The stacks in terms of positions 1…names, made outside the clock.
	all := make([][]LocationIndex, samples)
	plain := make([]LocationIndex, names)
	for i := range plain {
		plain[i] = LocationIndex(i + 1)
	}
	for i := range all {
		all[i] = append([]LocationIndex(nil), stackOf(i, nil, plain)...)
	}
	hints := Hints{Strings: 2 * names, Functions: names, Locations: names, Stacks: samples, Attributes: 64}
	if hit {
		hints.Stacks = 3000
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		d := pprofile.NewProfiles().Dictionary()
		x := NewBuilder(d)
		x.Grow(hints)
		frameType := []AttributeIndex{x.AttrString("profile.frame.type", "cpython")}
		for round := 0; round < 2; round++ { // every frame arrives twice: Node chunks repeat more
			for i := range names {
				f := x.Function(Function{Name: x.String(functions[i]), Filename: x.String(files[i])})
				x.Location(Location{Lines: []Line{{Function: f, Line: int64(i)}}, Attributes: frameType})
			}
		}
		for _, s := range all {
			x.Stack(s)
		}
		x.Finish()
		x.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(samples), "ns/sample")
}
