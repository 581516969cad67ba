// SPDX-License-Identifier: Apache-2.0

package stacktext

import "slices"

// stack collects frames in the order of the text. If there are more than maxFrames frames, it keeps
// the first half, and the last frames in a ring.
type stack struct {
	frames   []Frame
	total    int
	elided   int  // frames that the text only counts
	reversed bool // the text has the outermost frame first
}

func (s *stack) add(f Frame) {
	if len(s.frames) < maxFrames {
		s.frames = append(s.frames, f)
	} else {
		s.frames[halfFrames+s.ring()] = f
	}
	s.total++
}

// ring returns the position of the oldest frame in the ring.
func (s *stack) ring() int {
	if s.total < maxFrames {
		return 0
	}
	return (s.total - halfFrames) % halfFrames
}

// repeat adds the last frame n times. A full stack only counts the repetitions.
func (s *stack) repeat(n int) {
	if s.total == 0 || s.total >= maxFrames {
		s.elided += n
		return
	}
	last := s.frames[s.total-1]
	for range min(n, maxFrames) {
		s.add(last)
	}
	s.elided += max(n-maxFrames, 0)
}

// last returns the frame that was added last.
func (s *stack) last() *Frame {
	if s.total <= maxFrames {
		return &s.frames[len(s.frames)-1]
	}
	return &s.frames[halfFrames+(s.ring()+halfFrames-1)%halfFrames]
}

// inOrder returns the frames in the order of the text.
func (s *stack) inOrder() []Frame {
	oldest := halfFrames + s.ring()
	if oldest == halfFrames {
		return s.frames
	}
	return slices.Concat(s.frames[:halfFrames], s.frames[oldest:], s.frames[halfFrames:oldest])
}

// share adds the n outermost frames of an enclosing stack, at most limit. Both stacks are innermost
// first. It returns the number of added frames.
func (s *stack) share(enclosing *stack, n, limit int) int {
	frames := enclosing.inOrder()
	known := len(frames)
	if n < enclosing.total && enclosing.total > maxFrames {
		known = halfFrames // frames of the first half are further inside
	}
	known = min(n, known, limit)
	for _, frame := range frames[len(frames)-known:] {
		s.add(frame)
	}
	s.elided += n - known
	return known
}

// outermostFirst returns the frames and the number of missing frames.
func (s *stack) outermostFirst() ([]Frame, int) {
	frames := s.inOrder()
	if !s.reversed {
		slices.Reverse(frames)
	}
	return frames, s.total - len(frames) + s.elided
}

func (s *stack) reset() { s.frames, s.total, s.elided = s.frames[:0], 0, 0 }
