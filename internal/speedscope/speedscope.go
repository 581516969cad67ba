// Package speedscope makes files for speedscope (https://www.speedscope.app) of OTLP profiles: one profile per thread, its
// samples in the order of time, with the pauses between them.
//
// The file format is described by https://www.speedscope.app/file-format-schema.json. Lost: attributes, links and addresses.
package speedscope

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

const schema = "https://www.speedscope.app/file-format-schema.json"

// File is a speedscope file.
type File struct {
	Schema   string    `json:"$schema"`
	Exporter string    `json:"exporter"`
	Name     string    `json:"name"`
	Active   int       `json:"activeProfileIndex"`
	Profiles []Profile `json:"profiles"`
	Shared   Shared    `json:"shared"`
}

// Shared is what the profiles of a file have in common.
type Shared struct {
	Frames []Frame `json:"frames"`
}

// Frame is a place in the code.
type Frame struct {
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Line   int64  `json:"line,omitempty"`
	Column int64  `json:"col,omitempty"`
}

// Profile is one thread: for each sample the frames, root first, and how long it lasted.
type Profile struct {
	Type    string  `json:"type"` // sampled
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Start   int64   `json:"startValue"`
	End     int64   `json:"endValue"`
	Samples [][]int `json:"samples"`
	Weights []int64 `json:"weights"`
}

// Export makes one file of the selected samples of profiles. Threads of different profiles stay apart.
func Export(name string, profiles []*timeline.Profile, filter func(*timeline.Profile) timeline.Filter) (*File, error) {
	file := &File{Schema: schema, Exporter: "otelcol-sentry", Name: name, Profiles: []Profile{}, Shared: Shared{[]Frame{}}}
	b := builder{file: file, frames: map[Frame]int{}}
	for _, p := range profiles {
		if err := b.add(p, filter(p)); err != nil {
			return nil, err
		}
	}
	heaviest := func(a, b Profile) int { return cmp.Compare(busy(a), busy(b)) }
	for i := range file.Profiles {
		if heaviest(file.Profiles[i], file.Profiles[file.Active]) > 0 {
			file.Active = i
		}
	}
	return file, nil
}

// busy is how much of a thread's profile has a stack: the thread to look at first is the one that did most.
func busy(p Profile) (sum int64) {
	for i, stack := range p.Samples {
		if len(stack) > 0 {
			sum += p.Weights[i]
		}
	}
	return sum
}

type builder struct {
	file    *File
	frames  map[Frame]int
	written int // frames of all samples
}

func (b *builder) add(p *timeline.Profile, filter timeline.Filter) error {
	stacks := make([][]int, len(p.Stacks))
	threads := make([]*thread, len(p.Threads))
	for t, s := range p.Selected(filter) {
		if threads[t] == nil {
			threads[t] = &thread{Profile: Profile{Type: "sampled", Name: threadName(p.Threads[t]), Unit: unit(p.Measure.Unit)}, at: s.Time}
		}
		if stacks[s.Stack] == nil {
			stacks[s.Stack] = b.stack(p, s.Stack)
		}
		threads[t].append(s, stacks[s.Stack])
		if b.written += len(stacks[s.Stack]); b.written > timeline.MaxExportedFrames {
			return timeline.ErrTooLarge
		}
	}
	for _, t := range threads {
		if t != nil {
			b.file.Profiles = append(b.file.Profiles, t.Profile)
		}
	}
	return nil
}

// thread is the profile of a thread that is being written.
type thread struct {
	Profile
	at uint64 // where the last sample ended
}

func (t *thread) append(s *timeline.Sample, stack []int) {
	if t.Unit == unitNanoseconds && s.Time > t.at {
		t.push(int64(s.Time-t.at), []int{}) // not sampled, or not selected
	}
	t.push(s.Weight, stack)
	t.at = max(t.at, s.Time) + uint64(max(s.Weight, 0))
}

func (t *thread) push(weight int64, stack []int) {
	if weight <= 0 {
		return // two samples at one time, or freed memory: there is nothing to draw
	}
	t.Samples = append(t.Samples, stack)
	t.Weights = append(t.Weights, weight)
	t.End += weight
}

// stack lists the frames of a stack, root first.
func (b *builder) stack(p *timeline.Profile, index timeline.StackIndex) []int {
	list := []int{}
	for _, location := range p.Stacks[index] {
		for _, line := range p.Locations[location].Lines {
			frame := p.Frames[line.Frame]
			list = append(list, b.frame(Frame{frame.Name, frame.File, line.Line, line.Column}))
		}
	}
	slices.Reverse(list)
	return list
}

func (b *builder) frame(f Frame) int {
	i, known := b.frames[f]
	if !known {
		i = len(b.file.Shared.Frames)
		b.frames[f] = i
		b.file.Shared.Frames = append(b.file.Shared.Frames, f)
	}
	return i
}

func threadName(t timeline.Thread) string {
	switch {
	case t.ID == "":
		return "all samples"
	case t.Name == "" || t.Name == t.ID:
		return "thread " + t.ID
	}
	return fmt.Sprintf("%s (thread %s)", t.Name, t.ID)
}

const unitNanoseconds = "nanoseconds"

// unit gives speedscope's word for a unit; it knows no others.
func unit(u string) string {
	switch u {
	case unitNanoseconds, "microseconds", "milliseconds", "seconds", "bytes":
		return u
	}
	return "none"
}
