// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"errors"
	"math"
	"unsafe"

	"github.com/go-faster/jx"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// JX decodes chunks directly into columns with jx, a library of functions for hand-written
// decoders. Memory is reused, and text refers to the payload: the best that a library can do here.
func JX() Library {
	j := &jxDecoder{threads: map[string]int32{}, metadata: map[string]ThreadMetadata{}}
	return Library{Name: "jx-columns", Chunk: j.decode}
}

type jxDecoder struct {
	jx.Decoder
	out      profile.Chunk
	threads  map[string]int32
	metadata map[string]ThreadMetadata
	indices  []int32 // of one stack
	frames   int32   // the highest index in a stack, plus one
	stacks   int32   // the highest index in a sample, plus one
}

func (j *jxDecoder) decode(payload []byte) (*profile.Chunk, error) {
	s := j.out.Sampled
	s.Stacks.Reset()
	j.out = profile.Chunk{
		DebugMeta: profile.DebugMeta{Images: emptied(j.out.DebugMeta.Images)},
		Sampled: profile.Sampled{
			Samples: profile.Samples{Time: s.Samples.Time[:0], Stack: s.Samples.Stack[:0], Thread: s.Samples.Thread[:0]},
			Stacks:  s.Stacks, Frames: s.Frames[:0], Threads: s.Threads[:0], Queues: append(s.Queues[:0], profile.Queue{}),
		},
	}
	clear(j.threads)
	clear(j.metadata)
	j.frames, j.stacks = 0, 0
	j.ResetBytes(payload)
	if err := j.object(j.head); err != nil {
		return nil, err
	}
	if int(j.frames) > len(j.out.Frames) || int(j.stacks) > j.out.Stacks.Len() {
		return nil, errors.New("index out of range")
	}
	for i := range j.out.Threads {
		m := j.metadata[j.out.Threads[i].ID]
		j.out.Threads[i].Name, j.out.Threads[i].Priority = m.Name, m.Priority
	}
	return &j.out, nil
}

// object calls a function for each member.
func (j *jxDecoder) object(member func(key []byte) error) error {
	members, err := j.ObjIter()
	if err != nil {
		return err
	}
	for members.Next() {
		if err := member(members.Key()); err != nil {
			return err
		}
	}
	return members.Err()
}

// list calls a function for each element.
func (j *jxDecoder) list(element func() error) error {
	elements, err := j.ArrIter()
	if err != nil {
		return err
	}
	for elements.Next() {
		if err := element(); err != nil {
			return err
		}
	}
	return elements.Err()
}

func (j *jxDecoder) head(key []byte) error {
	c := &j.out
	switch string(key) {
	case "version":
		return j.text(&c.Version)
	case "profiler_id":
		return j.text(&c.ProfilerID)
	case "chunk_id":
		return j.text(&c.ChunkID)
	case "platform":
		return j.text(&c.Platform)
	case "release":
		return j.text(&c.Release)
	case "environment":
		return j.text(&c.Environment)
	case "client_sdk":
		return j.object(func(key []byte) error {
			switch string(key) {
			case "name":
				return j.text(&c.ClientSDK.Name)
			case "version":
				return j.text(&c.ClientSDK.Version)
			}
			return j.Skip()
		})
	case "debug_meta":
		return j.object(func(key []byte) error {
			if string(key) == "images" {
				return j.list(j.image)
			}
			return j.Skip()
		})
	case "profile":
		return j.object(j.profile)
	}
	return j.Skip()
}

func (j *jxDecoder) profile(key []byte) error {
	switch string(key) {
	case "samples":
		return j.list(j.sample)
	case "stacks":
		return j.list(j.stack)
	case "frames":
		return j.list(j.frame)
	case "thread_metadata":
		return j.object(func(key []byte) error {
			var m ThreadMetadata
			id := string(key)
			err := j.object(func(key []byte) error {
				switch string(key) {
				case "name":
					return j.text(&m.Name)
				case "priority":
					m.Priority = new(int64)
					return j.number(m.Priority)
				}
				return j.Skip()
			})
			j.metadata[id] = m
			return err
		})
	}
	return j.Skip()
}

func (j *jxDecoder) sample() error {
	var seconds float64
	var stack int64
	var id string
	members, err := j.ObjIter()
	if err != nil {
		return err
	}
	for members.Next() {
		switch string(members.Key()) {
		case "timestamp":
			seconds, err = j.Float64()
		case "stack_id":
			err = j.number(&stack)
		case "thread_id":
			err = j.text(&id)
		default:
			err = j.Skip()
		}
		if err != nil {
			return err
		}
	}
	thread, known := j.threads[id]
	if !known {
		thread = int32(len(j.out.Threads))
		j.threads[id] = thread
		j.out.Threads = append(j.out.Threads, profile.Thread{ID: id})
	}
	if stack < 0 || stack > math.MaxInt32 {
		return errors.New("bad stack_id")
	}
	j.stacks = max(j.stacks, int32(stack)+1)
	s := &j.out.Samples
	s.Time = append(s.Time, uint64(math.Round(seconds*1e9)))
	s.Stack = append(s.Stack, int32(stack))
	s.Thread = append(s.Thread, thread)
	return members.Err()
}

func (j *jxDecoder) stack() error {
	elements, err := j.ArrIter()
	if err != nil {
		return err
	}
	j.indices = j.indices[:0]
	for elements.Next() {
		frame, err := j.Int32()
		if err != nil || frame < 0 {
			return errors.Join(err, errors.New("bad frame index"))
		}
		j.frames = max(j.frames, frame+1)
		j.indices = append(j.indices, frame)
	}
	j.out.Stacks.Append(j.indices...)
	return elements.Err()
}

func (j *jxDecoder) frame() error {
	var f profile.Frame
	members, err := j.ObjIter()
	if err != nil {
		return err
	}
	for members.Next() {
		var text string
		var n int64
		switch string(members.Key()) {
		case "function":
			err = j.text(&f.Function)
		case "module":
			err = j.text(&f.Module)
		case "filename":
			err = j.text(&f.Filename)
		case "abs_path":
			err = j.text(&f.AbsPath)
		case "package":
			err = j.text(&f.Package)
		case "platform":
			err = j.text(&f.Platform)
		case "instruction_addr":
			err = j.text(&text)
			f.InstructionAddr = address(text).Value
		case "lineno":
			err = j.number(&n)
			f.Line = uint32(n)
		case "colno":
			err = j.number(&n)
			f.Column = uint32(n)
		case "in_app":
			if j.Next() != jx.Bool {
				err = j.Skip()
				break
			}
			var flag bool
			flag, err = j.Bool()
			f.InApp = inApp(&flag)
		default:
			err = j.Skip()
		}
		if err != nil {
			return err
		}
	}
	j.out.Frames = append(j.out.Frames, f)
	return members.Err()
}

func (j *jxDecoder) image() error {
	var image profile.Image
	err := j.object(func(key []byte) (err error) {
		var text string
		switch string(key) {
		case "type":
			return j.text(&image.Type)
		case "code_file":
			return j.text(&image.CodeFile)
		case "code_id":
			return j.text(&image.CodeID)
		case "debug_id":
			return j.text(&image.DebugID)
		case "uuid":
			return j.text(&image.UUID)
		case "arch":
			return j.text(&image.Arch)
		case "image_addr":
			err = j.text(&text)
			image.Addr = address(text)
			return err
		case "image_vmaddr":
			err = j.text(&text)
			image.VMAddr = address(text)
			return err
		case "image_size":
			size, err := j.UInt64()
			image.Size = jsonscan.Uint{Value: size, Set: size != 0}
			return err
		}
		return j.Skip()
	})
	j.out.DebugMeta.Images = append(j.out.DebugMeta.Images, image)
	return err
}

// text reads a text or null.
func (j *jxDecoder) text(to *string) error {
	if j.Next() == jx.Null {
		return j.Null()
	}
	text, err := j.StrBytes() // in the payload or, if the text has escapes, in its own memory
	*to = unsafe.String(unsafe.SliceData(text), len(text))
	return err
}

// number reads an integer or null.
func (j *jxDecoder) number(to *int64) (err error) {
	if j.Next() == jx.Null {
		return j.Null()
	}
	*to, err = j.Int64()
	return err
}
