// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"math"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// Converter converts structs to the columns that the translation reads. Like the product, it reuses
// its scratch memory.
type Converter struct {
	threads map[string]int32
	out     profile.Sampled
	indices []int32 // of one stack
}

// Chunk converts a chunk; the result is valid until the next call.
func (c *Converter) Chunk(in *Chunk) *profile.Chunk {
	c.common(&in.Profile.Data)
	for _, s := range in.Profile.Samples {
		c.sample(uint64(math.Round(s.Timestamp*1e9)), s.ThreadID, s.StackID)
	}
	c.describeThreads(in.Profile.ThreadMetadata)
	return &profile.Chunk{
		Version: in.Version, ProfilerID: in.ProfilerID, ChunkID: in.ChunkID, Platform: in.Platform, Release: in.Release,
		Environment: in.Environment, ClientSDK: sentry.ClientSDK(in.ClientSDK), DebugMeta: debugMeta(in.DebugMeta),
		Sampled: c.out,
	}
}

// Profile converts a profile; the result is valid until the next call.
func (c *Converter) Profile(in *Profile) *profile.Profile {
	c.common(&in.Profile.Data)
	for _, s := range in.Profile.Samples {
		c.sample(s.Elapsed, s.ThreadID, s.StackID)
	}
	c.describeThreads(in.Profile.ThreadMetadata)
	p := &profile.Profile{
		Version: in.Version, EventID: in.EventID, Platform: in.Platform, Release: in.Release, Environment: in.Environment,
		Device: profile.Device{
			Architecture: &in.Device.Architecture, IsEmulator: &in.Device.IsEmulator, Locale: &in.Device.Locale,
			Manufacturer: &in.Device.Manufacturer, Model: &in.Device.Model,
		},
		OS:        profile.OS{Name: &in.OS.Name, Version: &in.OS.Version, BuildNumber: &in.OS.BuildNumber},
		Runtime:   profile.Runtime(in.Runtime),
		DebugMeta: debugMeta(in.DebugMeta),
		Transaction: &profile.ProfileTransaction{
			ID: in.Transaction.ID, Name: in.Transaction.Name, TraceID: in.Transaction.TraceID,
			ActiveThreadID: jsonscan.Decimal{Text: in.Transaction.ActiveThreadID},
		},
		Sampled: c.out,
	}
	_ = p.Timestamp.UnmarshalJSON([]byte(strconv.Quote(in.Timestamp))) // cannot fail
	return p
}

func (c *Converter) common(in *Data) {
	clear(c.threads)
	c.out.Samples = profile.Samples{
		Time: c.out.Samples.Time[:0], Stack: c.out.Samples.Stack[:0], Thread: c.out.Samples.Thread[:0],
	}
	c.out.Threads = c.out.Threads[:0]
	c.out.Queues = append(c.out.Queues[:0], profile.Queue{})
	c.convertFrames(in.Frames)
	c.convertStacks(in.Stacks)
}

func (c *Converter) sample(time uint64, id string, stack int) {
	if stack < 0 || stack >= c.out.Stacks.Len() {
		return
	}
	thread, known := c.threads[id]
	if !known {
		thread = int32(len(c.out.Threads))
		c.threads[id] = thread
		c.out.Threads = append(c.out.Threads, profile.Thread{ID: id})
	}
	c.out.Samples.Time = append(c.out.Samples.Time, time)
	c.out.Samples.Stack = append(c.out.Samples.Stack, int32(stack))
	c.out.Samples.Thread = append(c.out.Samples.Thread, thread)
}

func (c *Converter) describeThreads(metadata map[string]ThreadMetadata) {
	for i := range c.out.Threads {
		m := metadata[c.out.Threads[i].ID]
		c.out.Threads[i].Name, c.out.Threads[i].Priority = m.Name, m.Priority
	}
}

func (c *Converter) convertFrames(frames []Frame) {
	c.out.Frames = c.out.Frames[:0]
	for i := range frames {
		f := &frames[i]
		c.out.Frames = append(c.out.Frames, profile.Frame{
			Function: f.Function, Module: f.Module, Filename: f.Filename, AbsPath: f.AbsPath, Package: f.Package,
			Platform: f.Platform, InstructionAddr: address(f.InstructionAddr).Value, Line: f.Line, Column: f.Column,
			InApp: inApp(f.InApp),
		})
	}
}

func inApp(flag *bool) profile.InApp {
	switch {
	case flag == nil:
		return profile.InAppAbsent
	case *flag:
		return profile.InAppTrue
	}
	return profile.InAppFalse
}

func (c *Converter) convertStacks(stacks [][]int) {
	c.out.Stacks.Reset()
	for _, stack := range stacks {
		c.indices = c.indices[:0]
		for _, frame := range stack {
			if frame < 0 || frame >= len(c.out.Frames) {
				frame = 0
			}
			c.indices = append(c.indices, int32(frame))
		}
		c.out.Stacks.Append(c.indices...)
	}
}

func debugMeta(in DebugMeta) profile.DebugMeta {
	images := make([]profile.Image, len(in.Images))
	for i, image := range in.Images {
		images[i] = profile.Image{
			Type: image.Type, CodeFile: image.CodeFile, CodeID: image.CodeID, DebugID: image.DebugID, UUID: image.UUID,
			Arch: image.Arch, Addr: address(image.Addr), VMAddr: address(image.VMAddr),
			Size: jsonscan.Uint{Value: image.Size, Set: image.Size != 0},
		}
	}
	return profile.DebugMeta{Images: images}
}

func address(text string) jsonscan.Address {
	if text == "" {
		return jsonscan.Address{}
	}
	value, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return jsonscan.Address{Value: value, Set: err == nil, Bad: err != nil}
}
