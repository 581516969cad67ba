// SPDX-License-Identifier: Apache-2.0

// Package flametest measures how much of a profile a drawing shows.
package flametest

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
)

// Self returns the sum of the self weights of all boxes.
func Self(d flame.Drawing) (sum int64) {
	for _, b := range d.Boxes {
		sum += b.Self
	}
	return sum
}

// Drawn returns the visible weight: the parts of the window in a box of combined functions, or in a
// function where it has no children, up to its self weight. A missing child would leave a hole.
func Drawn(d flame.Drawing, w flame.Window) (sum int64) {
	visible := func(b flame.Box) int64 { return max(0, min(b.Start+b.Extent, w.To)-max(b.Start, w.From)) }
	var running []flame.Box
	var own []int64 // the visible part of the running boxes without children
	end := func(depth int32) {
		for i := len(running) - 1; i >= 0 && running[i].Depth >= depth; i-- {
			sum += min(own[i], running[i].Self)
			running, own = running[:i], own[:i]
		}
	}
	for _, b := range d.Boxes {
		if b.Frame < 0 && b.Combined == 0 {
			continue
		}
		end(b.Depth)
		length := visible(b)
		if b.Combined > 0 { // it is drawn as high as it is busy; the rest belongs to its parent
			length = int64(float64(length) * float64(b.Weight) / float64(max(1, b.Extent)))
		}
		if len(own) > 0 {
			own[len(own)-1] -= length
		}
		if b.Combined > 0 {
			sum += length
			continue
		}
		running, own = append(running, b), append(own, length)
	}
	end(0)
	return sum
}

// Busy returns the weight of the samples of a thread with a stack in a window of the time after the
// origin.
func Busy(samples []timeline.Sample, w flame.Window, origin uint64) (sum int64) {
	for i, s := range samples {
		end := s.Time + uint64(max(0, s.Weight))
		if i+1 < len(samples) {
			end = min(end, samples[i+1].Time)
		}
		if s.Stack != 0 {
			sum += max(0, min(int64(end-origin), w.To)-max(int64(s.Time-origin), w.From))
		}
	}
	return sum
}
