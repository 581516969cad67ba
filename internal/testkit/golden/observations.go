// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
)

// Observations are the samples of one profile as text: times in ascending order, by identity
// (thread, queue, and the frames of the stack).
type Observations map[string][]uint64

// Count is the number of observations.
func (o Observations) Count() (n int) {
	for _, times := range o {
		n += len(times)
	}
	return n
}

// Diff returns the differences of two observations, or "".
func (o Observations) Diff(want Observations) string {
	for what, times := range want {
		if !slices.Equal(times, o[what]) {
			return fmt.Sprintf("want %d observations %v…, got %d %v… of\n%s",
				len(times), firstFew(times), len(o[what]), firstFew(o[what]), what)
		}
	}
	for what := range o {
		if _, wanted := want[what]; !wanted {
			return "not wanted: " + what
		}
	}
	return ""
}

func firstFew(times []uint64) []uint64 { return times[:min(5, len(times))] }

func (o Observations) sorted() Observations {
	for _, times := range o {
		slices.Sort(times)
	}
	return o
}

// identities are the identities as text. Most samples of a profile share theirs with others.
type identities map[identity]string

// identity identifies a stack by its memory.
type identity struct {
	thread, threadName, priority, queue, queueLabel string
	leaf                                            *sentrytest.Frame
	frames                                          int
}

func (all identities) text(s sentrytest.Sample) string {
	id := identity{s.Thread, s.ThreadName, s.Priority, s.Queue, s.QueueLabel, unsafe.SliceData(s.Stack), len(s.Stack)}
	text, known := all[id]
	if !known {
		text = fmt.Sprintf("thread %q %q %s queue %q %q\n%s", s.Thread, s.ThreadName, s.Priority, s.Queue, s.QueueLabel, s.StackText())
		all[id] = text
	}
	return text
}

// Expected returns the observations in a payload; start is the anchor of a V1 profile, else 0.
func Expected(p *sentrytest.Profile, start uint64) Observations {
	o, texts := Observations{}, identities{}
	for _, sample := range p.Samples {
		what := texts.text(sample)
		o[what] = append(o[what], start+sample.Time)
	}
	return o.sorted()
}

// Observed are the observations of an OTLP profile, frames spelled out as Sentry's. It panics on
// indices that are out of range: check conformance first.
func Observed(dict pprofile.ProfilesDictionary, profile pprofile.Profile) Observations {
	r := reader{dict, map[int32]sentrytest.Frame{}}
	o, texts := Observations{}, identities{}
	stacks := map[int32][]sentrytest.Frame{}
	for _, s := range profile.Samples().All() {
		attrs := r.attributes(s.AttributeIndices())
		stack, known := stacks[s.StackIndex()]
		if !known {
			stack = r.stack(s.StackIndex())
			stacks[s.StackIndex()] = stack
		}
		what := texts.text(sentrytest.Sample{
			Thread: attrs["thread.id"], ThreadName: attrs["thread.name"], Priority: attrs["sentry.thread.priority"],
			Queue: attrs["sentry.queue.address"], QueueLabel: attrs["sentry.queue.label"], Stack: stack,
		})
		o[what] = append(o[what], s.TimestampsUnixNano().AsRaw()...)
	}
	return o.sorted()
}

type reader struct {
	dict   pprofile.ProfilesDictionary
	frames map[int32]sentrytest.Frame // by location
}

func (r reader) text(index int32) string { return r.dict.StringTable().At(int(index)) }

func (r reader) attributes(indices pcommon.Int32Slice) map[string]string {
	all := map[string]string{}
	for _, index := range indices.All() {
		entry := r.dict.AttributeTable().At(int(index))
		all[r.text(entry.KeyStrindex())] = entry.Value().AsString()
	}
	return all
}

func (r reader) stack(index int32) (stack []sentrytest.Frame) {
	for _, location := range r.dict.StackTable().At(int(index)).LocationIndices().All() {
		frame, known := r.frames[location]
		if !known {
			frame = r.frame(r.dict.LocationTable().At(int(location)))
			r.frames[location] = frame
		}
		stack = append(stack, frame)
	}
	return stack
}

// frame spells a location out as the frame it was.
func (r reader) frame(location pprofile.Location) sentrytest.Frame {
	attrs := r.attributes(location.AttributeIndices())
	f := sentrytest.Frame{
		Module: attrs["sentry.frame.module"], Package: attrs["sentry.frame.package"], Platform: attrs["sentry.frame.platform"],
		InApp: attrs["sentry.frame.in_app"], Address: location.Address(),
	}
	if raw, masked := attrs["sentry.frame.instruction_addr"]; masked {
		f.Address, _ = strconv.ParseUint(strings.TrimPrefix(raw, "0x"), 16, 64)
	}
	if location.Lines().Len() == 0 {
		return f
	}
	line := location.Lines().At(0)
	f.Line, f.Column = uint32(line.Line()), uint32(line.Column())
	function := r.dict.FunctionTable().At(int(line.FunctionIndex()))
	f.Function = r.text(function.NameStrindex())

	file := r.text(function.FilenameStrindex())
	relative, hasBoth := attrs["sentry.frame.filename"]
	_, absoluteOnly := attrs["sentry.frame.abs_path"]
	switch {
	case hasBoth:
		f.Filename, f.AbsPath = relative, file
	case absoluteOnly:
		f.AbsPath = file
	default:
		f.Filename = file
	}
	return f
}
