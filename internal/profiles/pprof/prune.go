// SPDX-License-Identifier: Apache-2.0

package pprof

import (
	"regexp/syntax"
	"strings"
)

const (
	// maxPattern is the maximum size of a compiled pattern, in instructions. tcmalloc's has 400.
	maxPattern = 10_000

	// maxPruning is the maximum work of a file: google/pprof removes nested brackets of each name
	// one by one, and matches it with the patterns.
	maxPruning = 1 << 30
)

// prune removes the frames that pprof does not display: drop_frames selects functions, which are
// removed with all frames that they call, unless keep_frames selects them too.
func (r *reader) prune() {
	if r.in.DropFrames == "" {
		return
	}
	size := patternSize(r.in.DropFrames) + patternSize(r.in.KeepFrames)
	work := 0
	for _, l := range r.in.Location {
		for _, line := range l.Line {
			if f := line.Function; f != nil && work <= maxPruning {
				work += len(f.Name) * (1 + strings.Count(f.Name, "("))
			}
		}
	}
	for _, f := range r.in.Function {
		if work <= maxPruning {
			work += len(f.Name) * size
		}
	}
	if size > maxPattern || work > maxPruning {
		r.Lose("patterns of frames to drop, which are too large", 1)
		return
	}
	before := r.frames()
	if err := r.in.RemoveUninteresting(); err != nil {
		r.Lose("patterns of frames to drop, which are no regular expressions", 1)
		return
	}
	r.Lose("frames that the file excludes from views (drop_frames)", before-r.frames())
}

// frames returns the number of frames of all samples.
func (r *reader) frames() (count int) {
	for _, s := range r.in.Sample {
		for _, l := range s.Location {
			count += max(len(l.Line), 1)
		}
	}
	return count
}

// patternSize returns the number of instructions of a pattern, or 0 if it is invalid.
func patternSize(pattern string) int {
	if len(pattern) > maxPattern {
		return maxPattern + 1
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}
