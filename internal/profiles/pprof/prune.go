// SPDX-License-Identifier: Apache-2.0

package pprof

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	// maxPattern is the maximum size of a compiled pattern, in instructions. tcmalloc's has 400.
	maxPattern = 10_000

	// minPruning, pruningPerByte and maxPruning limit the steps for a file, of about 20 ns. Names
	// take 10 per byte with the alternatives of tcmalloc's pattern, but hostile patterns thousands.
	minPruning     = 1 << 20
	pruningPerByte = 64
	maxPruning     = 1 << 25
)

var (
	errLargePattern = errors.New("the pattern is too large")

	// dropped is the name that replaces those of functions to drop.
	dropped     = "x"
	dropPattern = regexp.MustCompile("^" + dropped + "$")
)

// prune removes the frames that pprof does not display: drop_frames selects functions, which are
// removed with all frames that they call, unless keep_frames selects them too. google/pprof removes
// the frames, but does not match the names, because package regexp has no limit. It returns the
// number of steps.
func (r *reader) prune(size int) (steps int) {
	if r.in.DropFrames == "" {
		return 0
	}
	limit := min(minPruning+pruningPerByte*size, maxPruning)
	left := limit
	drop, err := newMatcher(r.in.DropFrames, &left)
	keep, keepErr := newMatcher(r.in.KeepFrames, &left)
	if err = errors.Join(err, keepErr); err != nil && !errors.Is(err, errLargePattern) {
		r.Lose("patterns of frames to drop, which are no regular expressions", 1)
		return 0
	}
	names := make([]string, len(r.in.Function))
	for i, f := range r.in.Function {
		names[i], f.Name = f.Name, ""
		if name := simplified(names[i]); err == nil && names[i] != "" && drop.match(name) && (r.in.KeepFrames == "" || !keep.match(name)) {
			f.Name = dropped
		}
	}
	before := r.frames()
	if err != nil || left < 0 {
		r.Lose("patterns of frames to drop, which are too large", 1)
	} else {
		r.in.Prune(dropPattern, nil)
	}
	for i, f := range r.in.Function {
		f.Name = names[i]
	}
	r.Lose("frames that the file excludes from views (drop_frames)", before-r.frames())
	return limit - left
}

// simplified returns the part of a name that google/pprof matches: without parameters.
func simplified(name string) string {
	name = strings.TrimPrefix(name, ".") // of PowerPC
	for at := 0; ; {
		bracket := strings.IndexByte(name[at:], '(')
		if bracket < 0 {
			return name
		}
		bracket += at
		switch rest := name[bracket:]; {
		case strings.HasPrefix(rest, "(anonymous namespace)"):
			at = bracket + len("(anonymous namespace)")
		case strings.HasPrefix(rest, "()") && strings.HasSuffix(name[at:bracket], "operator"):
			at = bracket + len("()")
		default:
			return name[:bracket]
		}
	}
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

// matcher matches texts with a pattern until no steps are left. Like package regexp, it follows all
// alternatives at once.
type matcher struct {
	*syntax.Prog
	left    *int
	waiting []uint32 // instructions that need a character
	next    []uint32 // those after the character
	seen    []int    // by instruction: the last round
	round   int
}

func newMatcher(pattern string, left *int) (*matcher, error) {
	if len(pattern) > maxPattern {
		return nil, errLargePattern
	}
	parsed, err := syntax.Parse("^("+pattern+")$", syntax.Perl)
	if err != nil {
		return nil, err
	}
	if instructions(parsed) > maxPattern {
		return nil, errLargePattern
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err == nil && len(program.Inst) > maxPattern {
		err = errLargePattern
	}
	if err != nil {
		return nil, err
	}
	return &matcher{Prog: program, left: left, seen: make([]int, len(program.Inst))}, nil
}

// instructions returns about the number of instructions of a pattern, or at least maxPattern+1 if
// it has more. Compiling them would take hundreds of megabytes: a{1000} has a thousand.
func instructions(pattern *syntax.Regexp) int {
	count, times := 1, 1
	switch pattern.Op {
	case syntax.OpLiteral:
		count = len(pattern.Rune)
	case syntax.OpRepeat:
		times = max(pattern.Min, pattern.Max, 1)
	}
	for _, part := range pattern.Sub {
		count += instructions(part)
	}
	return min(count*times, maxPattern+1)
}

func (m *matcher) match(text string) bool {
	m.next = m.next[:0]
	before := rune(-1)
	for *m.left >= 0 {
		r, size := rune(-1), 0
		if text != "" {
			r, size = utf8.DecodeRuneInString(text)
		}
		m.waiting = m.waiting[:0]
		m.round++
		conditions := syntax.EmptyOpContext(before, r)
		for _, i := range m.next {
			if m.follow(i, conditions) {
				return true
			}
		}
		if m.follow(uint32(m.Start), conditions) {
			return true
		}
		if size == 0 {
			return false
		}
		m.next = m.next[:0]
		for _, i := range m.waiting {
			if m.Inst[i].MatchRune(r) {
				m.next = append(m.next, m.Inst[i].Out)
			}
		}
		before, text = r, text[size:]
	}
	return false
}

// follow adds the instructions at a place that need a character. It reports whether the text
// matches.
func (m *matcher) follow(i uint32, conditions syntax.EmptyOp) bool {
	*m.left--
	if m.seen[i] == m.round {
		return false
	}
	m.seen[i] = m.round
	switch in := &m.Inst[i]; in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstAlt, syntax.InstAltMatch:
		return m.follow(in.Out, conditions) || m.follow(in.Arg, conditions)
	case syntax.InstCapture, syntax.InstNop:
		return m.follow(in.Out, conditions)
	case syntax.InstEmptyWidth:
		return syntax.EmptyOp(in.Arg)&^conditions == 0 && m.follow(in.Out, conditions)
	case syntax.InstFail:
		return false
	}
	m.waiting = append(m.waiting, i)
	return false
}
