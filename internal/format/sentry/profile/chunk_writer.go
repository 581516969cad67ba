// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"
	"strconv"
	"sync"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// AppendChunk appends the payload of a "profile_chunk" item in sample format V2 to dst. It is the
// inverse of Decoder.Chunk. It writes only the stacks, frames and threads that samples refer to,
// numbered by first use.
//
// It always writes the fields that ingest requires, even if empty: IDs, platform, SDK. If the
// payload would exceed maxBytes, ok is false and dst is returned unchanged. The chunk must be
// valid: indices in range, values finite.
func AppendChunk(dst []byte, c *Chunk, maxBytes int) (_ []byte, ok bool) {
	w := chunkWriters.Get().(*chunkWriter)
	defer w.release()
	before := len(dst)
	w.dst, w.limit = dst, before+maxBytes
	w.head(c)
	w.sampled(&c.Sampled)
	w.text("}")
	if len(w.dst) > w.limit {
		return w.dst[:before], false
	}
	return w.dst, true
}

// chunkWriter writes one payload.
type chunkWriter struct {
	dst   []byte
	limit int // maximum of len(dst); the writer stops beyond it, because the payload will be discarded

	stackNumber, frameNumber []int32 // by index: number in the payload plus one; 0 = not written yet
	stacks, frames           []int32 // in the order of their numbers
	threads                  []bool  // seen

	threadText []byte // by thread: the text that all of its samples share
	threadEnds []int
}

var chunkWriters = sync.Pool{New: func() any { return new(chunkWriter) }}

func (w *chunkWriter) release() {
	w.dst = nil
	kept := 4*(cap(w.stackNumber)+cap(w.frameNumber)+cap(w.stacks)+cap(w.frames)) + cap(w.threadText) + 8*cap(w.threadEnds)
	if kept <= sentry.MaxPooledScratch {
		chunkWriters.Put(w)
	}
}

func (w *chunkWriter) text(text string) { w.dst = append(w.dst, text...) }

func (w *chunkWriter) full() bool { return len(w.dst) > w.limit }

func (w *chunkWriter) head(c *Chunk) {
	w.text(`{"version":"2"`)
	w.dst = jsonscan.AppendTextAlways(w.dst, "profiler_id", c.ProfilerID)
	w.dst = jsonscan.AppendTextAlways(w.dst, "chunk_id", c.ChunkID)
	w.dst = jsonscan.AppendTextAlways(w.dst, "platform", c.Platform)
	w.dst = jsonscan.AppendTextAlways(w.dst, "release", c.Release)
	w.dst = jsonscan.AppendText(w.dst, "dist", c.Dist)
	w.dst = jsonscan.AppendText(w.dst, "environment", c.Environment)
	w.text(`,"client_sdk":{`)
	w.dst = jsonscan.AppendTextAlways(w.dst, "name", c.ClientSDK.Name)
	w.dst = jsonscan.AppendTextAlways(w.dst, "version", c.ClientSDK.Version)
	w.text("}")
	if len(c.DebugMeta.Images) > 0 {
		w.images(c.DebugMeta.Images)
	}
	if len(c.Measurements) > 0 {
		w.measurements(c.Measurements)
	}
}

func (w *chunkWriter) images(images []Image) {
	w.text(`,"debug_meta":{"images":[`)
	for i := range images {
		if w.full() {
			return
		}
		w.comma(i)
		w.dst = images[i].append(w.dst)
	}
	w.text("]}")
}

func (image *Image) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = jsonscan.AppendText(dst, "type", image.Type)
	dst = jsonscan.AppendText(dst, "code_file", image.CodeFile)
	dst = jsonscan.AppendText(dst, "code_id", image.CodeID)
	dst = jsonscan.AppendText(dst, "debug_file", image.DebugFile)
	dst = jsonscan.AppendText(dst, "debug_id", image.DebugID)
	dst = jsonscan.AppendText(dst, "uuid", image.UUID)
	dst = jsonscan.AppendText(dst, "arch", image.Arch)
	if image.Addr.Set {
		dst = jsonscan.AppendAddress(dst, "image_addr", image.Addr.Value)
	}
	if image.VMAddr.Set {
		dst = jsonscan.AppendAddress(dst, "image_vmaddr", image.VMAddr.Value)
	}
	if image.Size.Set {
		dst = strconv.AppendUint(jsonscan.AppendKey(dst, "image_size"), image.Size.Value, 10)
	}
	return append(dst, '}')
}

func (w *chunkWriter) measurements(series []Measurement) {
	w.text(`,"measurements":{`)
	for _, m := range series {
		w.dst = append(jsonscan.AppendName(w.dst, m.Name), '{')
		w.dst = jsonscan.AppendTextAlways(w.dst, "unit", m.Unit)
		w.text(`,"values":[`)
		for i, v := range m.Values {
			if w.full() {
				return
			}
			w.comma(i)
			w.text(`{"timestamp":`)
			w.dst = jsonscan.AppendFloat(w.dst, v.Timestamp)
			w.text(`,"value":`)
			w.dst = jsonscan.AppendFloat(w.dst, v.Value)
			w.text("}")
		}
		w.text("]}")
	}
	w.text("}")
}

func (w *chunkWriter) sampled(s *Sampled) {
	w.reset(s)
	w.text(`,"profile":{"samples":[`)
	w.samples(s)
	w.text(`],"stacks":[`)
	w.stackLists(s)
	w.text(`],"frames":[`)
	for i, frame := range w.frames {
		if w.full() {
			return
		}
		w.comma(i)
		w.dst = s.Frames[frame].append(w.dst)
	}
	w.text(`],"thread_metadata":{`)
	w.threadMetadata(s)
	w.text("}}")
}

// reset clears the scratch and prepares the text that all samples of a thread share.
func (w *chunkWriter) reset(s *Sampled) {
	w.stackNumber = zeroed(w.stackNumber, s.Stacks.Len())
	w.frameNumber = zeroed(w.frameNumber, len(s.Frames))
	w.threads = zeroed(w.threads, len(s.Threads))
	w.stacks, w.frames = slices.Grow(w.stacks[:0], s.Stacks.Len()), slices.Grow(w.frames[:0], len(s.Frames))
	w.threadText, w.threadEnds = w.threadText[:0], w.threadEnds[:0]
	for i := range s.Threads {
		w.threadText = append(w.threadText, `,"thread_id":`...)
		w.threadText = jsonscan.AppendJSONText(w.threadText, s.Threads[i].ID)
		w.threadText = append(w.threadText, `,"stack_id":`...)
		w.threadEnds = append(w.threadEnds, len(w.threadText))
	}
}

func zeroed[T any](scratch []T, n int) []T {
	scratch = slices.Grow(scratch[:0], n)[:n]
	clear(scratch)
	return scratch
}

func (w *chunkWriter) samples(s *Sampled) {
	second, dst := uint64(1)<<63, w.dst // an impossible value
	var seconds []byte
	for i, time := range s.Samples.Time {
		if len(dst) > w.limit {
			break
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if time/jsonscan.NanosPerSecond != second { // the same for a thousand samples
			second = time / jsonscan.NanosPerSecond
			seconds = strconv.AppendUint(append(seconds[:0], `{"timestamp":`...), second, 10)
		}
		dst = append(dst, seconds...)
		dst = jsonscan.AppendFraction(dst, uint32(time-second*jsonscan.NanosPerSecond))

		thread := s.Samples.Thread[i]
		w.threads[thread] = true
		begin := 0
		if thread > 0 {
			begin = w.threadEnds[thread-1]
		}
		dst = append(dst, w.threadText[begin:w.threadEnds[thread]]...)
		dst = jsonscan.AppendIndex(dst, number(w.stackNumber, &w.stacks, s.Samples.Stack[i]))
		dst = append(dst, '}')
	}
	w.dst = dst
}

// number returns the number of an index in the payload.
func number(numbers []int32, order *[]int32, index int32) uint32 {
	if numbers[index] == 0 {
		*order = append(*order, index)
		numbers[index] = int32(len(*order))
	}
	return uint32(numbers[index] - 1)
}

func (w *chunkWriter) stackLists(s *Sampled) {
	dst := w.dst
	for i, stack := range w.stacks {
		if len(dst) > w.limit {
			break
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		for j, frame := range s.Stacks.At(stack) {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = jsonscan.AppendIndex(dst, number(w.frameNumber, &w.frames, frame))
		}
		dst = append(dst, ']')
	}
	w.dst = dst
}

// append writes a frame. The specification requires a function, a filename or an address. If all
// are missing, append writes an empty function, as browsers do for anonymous functions.
//
// For speed, every member ends with a comma, and the last comma is replaced with the closing brace:
// Node's payloads consist mostly of frames.
func (f *Frame) append(dst []byte) []byte {
	dst = append(dst, '{')
	if f.Function != "" || f.Filename == "" && f.InstructionAddr == 0 {
		dst = append(jsonscan.AppendJSONText(append(dst, `"function":`...), f.Function), ',')
	}
	dst = appendFrameText(dst, `"module":`, f.Module)
	dst = appendFrameText(dst, `"filename":`, f.Filename)
	dst = appendFrameText(dst, `"abs_path":`, f.AbsPath)
	dst = appendFrameText(dst, `"package":`, f.Package)
	dst = appendFrameText(dst, `"platform":`, f.Platform)
	if f.Line != 0 {
		dst = append(jsonscan.AppendIndex(append(dst, `"lineno":`...), f.Line), ',')
	}
	if f.Column != 0 {
		dst = append(jsonscan.AppendIndex(append(dst, `"colno":`...), f.Column), ',')
	}
	if f.InApp != InAppAbsent {
		dst = append(strconv.AppendBool(append(dst, `"in_app":`...), f.InApp == InAppTrue), ',')
	}
	if f.InstructionAddr != 0 {
		dst = append(strconv.AppendUint(append(dst, `"instruction_addr":"0x`...), f.InstructionAddr, 16), '"', ',')
	}
	dst[len(dst)-1] = '}'
	return dst
}

// EstimateSize returns the approximate length of the frame in a payload.
func (f *Frame) EstimateSize() int {
	const namesAndNumbers = 90
	return namesAndNumbers + len(f.Function) + len(f.Module) + len(f.Filename) + len(f.AbsPath) + len(f.Package) + len(f.Platform)
}

func appendFrameText(dst []byte, member, text string) []byte {
	if text == "" {
		return dst
	}
	return append(jsonscan.AppendJSONText(append(dst, member...), text), ',')
}

func (w *chunkWriter) threadMetadata(s *Sampled) {
	for i, seen := range w.threads {
		thread := &s.Threads[i]
		if !seen || thread.Name == "" && thread.Priority == nil {
			continue
		}
		w.dst = append(jsonscan.AppendName(w.dst, thread.ID), '{')
		w.dst = jsonscan.AppendText(w.dst, "name", thread.Name)
		if thread.Priority != nil {
			w.dst = strconv.AppendInt(jsonscan.AppendKey(w.dst, "priority"), *thread.Priority, 10)
		}
		w.text("}")
	}
}

// comma writes a comma before every element except the first.
func (w *chunkWriter) comma(element int) {
	if element > 0 {
		w.text(",")
	}
}
