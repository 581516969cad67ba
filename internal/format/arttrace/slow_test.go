// SPDX-License-Identifier: Apache-2.0

package arttrace_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
)

// slowTrace is a trace by a second reader, which is written for its simplicity: it shares no code
// with the package, copies the whole stack at every record, and resolves nothing. Compared with the
// package, it is the oracle of FuzzART.
type slowTrace struct {
	threads []arttrace.Thread
	methods []arttrace.Method
	events  []arttrace.Event
	elapsed uint64 // µs; 0 = unknown, or the buffer was full
	lasted  uint64 // µs; 0 = unknown
	onCPU   bool
}

// slowParse reads a trace. ok is false for what is none.
func slowParse(data []byte) (t slowTrace, ok bool) {
	settings := map[string]string{}
	binaryPart, streaming := data, bytes.HasPrefix(data, []byte("SLOW"))
	if !streaming {
		text, rest, found := strings.Cut(string(data), "\n*end\n")
		if !found || !strings.HasPrefix(text, "*version\n") {
			return t, false
		}
		binaryPart = []byte(rest)
		t.text(text, settings)
	}
	if len(binaryPart) < 18 || string(binaryPart[:4]) != "SLOW" {
		return t, false
	}
	version, size := number(binaryPart[4:6]), int(number(binaryPart[6:8]))
	if streaming != (version&0xF0 == 0xF0) {
		return t, false
	}
	if version&0xF0 == 0xF0 {
		version -= 0xF0
	}
	record := map[uint64]int{1: 9, 2: 10, 3: int(number(binaryPart[16:18]))}[version]
	if record == 0 || record < 9 || version > 1 && record < 10 || size < 16 || size > len(binaryPart) {
		return t, false
	}
	blocks := [][]byte{binaryPart[size:]}
	if streaming {
		settings["clock"] = "dual"
		blocks = t.blocks(binaryPart[size:], int(version), record, settings)
	}
	t.records(blocks, int(version), record, settings["clock"])
	t.onCPU = settings["clock"] == "thread-cpu"
	if elapsed, err := strconv.ParseUint(settings["elapsed-time-usec"], 10, 64); err == nil {
		t.lasted = elapsed
		if settings["data-file-overflow"] != "true" {
			t.elapsed = min(elapsed, math.MaxUint32)
		}
	}
	return t, true
}

func number(bytes []byte) (n uint64) {
	for i, b := range bytes {
		n |= uint64(b) << (8 * i)
	}
	return n
}

func (t *slowTrace) text(text string, settings map[string]string) {
	section := ""
	for _, line := range strings.Split(text, "\n") {
		fields := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "*"):
			section = line
			if line == "*methods" {
				t.methods = nil // a second table replaces the first
			}
		case section == "*version":
			key, value, _ := strings.Cut(line, "=")
			if _, err := strconv.ParseUint(value, 10, 64); key != "elapsed-time-usec" || err == nil {
				settings[key] = value
			}
		case section == "*threads":
			if id, err := strconv.ParseUint(fields[0], 10, 32); err == nil {
				t.threads = append(t.threads, arttrace.Thread{ID: uint32(id), Name: strings.Join(fields[1:], "\t")})
			}
		case section == "*methods":
			t.method(line)
		}
	}
}

func (t *slowTrace) method(line string) {
	fields := strings.SplitN(line, "\t", 6)
	id, err := strconv.ParseUint(strings.TrimPrefix(fields[0], "0x"), 16, 32)
	if err != nil || len(fields) == 1 || len(fields) == 2 && fields[1] == "" {
		return
	}
	fields = append(fields, "", "", "", "")
	m := arttrace.Method{ID: uint32(id) / 4 * 4, Class: fields[1], Name: fields[2], Signature: fields[3], File: fields[4]}
	if n, err := strconv.ParseUint(fields[5], 10, 32); err == nil {
		m.Line = uint32(n)
	}
	t.methods = append(t.methods, m)
}

// blocks takes the tables out of a streaming trace, and returns the records.
func (t *slowTrace) blocks(rest []byte, version, record int, settings map[string]string) (records [][]byte) {
	id := min(version, 2) // bytes of a thread's id
	for {
		if len(rest) > id && number(rest[:id]) == 0 {
			kind, content := rest[id], rest[id+1:]
			width := map[byte]int{1: 2, 2: 4, 3: 4}[kind]
			if width == 0 || len(content) < width {
				return records
			}
			length := int(number(content[width-min(width, 2+2*int(kind/3)) : width])) // of 4 bytes in the last block, else of 2
			if len(content) < width+length {
				return records
			}
			text := string(content[width : width+length])
			switch kind {
			case 1:
				t.method(strings.TrimSuffix(text, "\n"))
			case 2:
				t.threads = append(t.threads, arttrace.Thread{ID: uint32(number(content[:2])), Name: text})
			case 3:
				text, _, _ = strings.Cut(text, "*threads")
				t.text(strings.TrimSuffix(text, "\n"), settings)
			}
			rest = content[width+length:]
			continue
		}
		if len(rest) < record {
			return records
		}
		records, rest = append(records, rest[:record]), rest[record:]
	}
}

func (t *slowTrace) records(blocks [][]byte, version, size int, clock string) {
	for _, block := range blocks {
		for ; len(block) >= size; block = block[size:] {
			id := min(version, 2)
			method, times := uint32(number(block[id:id+4])), block[id+4:]
			e := arttrace.Event{Thread: uint16(number(block[:id])), Method: method / 4 * 4, Action: arttrace.Action(method % 4)}
			switch {
			case clock == "dual" && size >= 14:
				e.CPU, e.Wall = binary.LittleEndian.Uint32(times), binary.LittleEndian.Uint32(times[4:])
			case clock == "thread-cpu":
				e.CPU = binary.LittleEndian.Uint32(times)
			default:
				e.Wall = binary.LittleEndian.Uint32(times)
			}
			t.events = append(t.events, e)
		}
	}
}

// slowThread is a thread: what was observed of it so far, as "first-last stack", and its state at a
// record.
type slowThread struct {
	lines  []string
	stack  []uint32
	beyond int
	last   uint64 // µs
}

// observe returns the observations of each thread at the points of a grid, and the counters of the
// package.
func (t *slowTrace) observe(period time.Duration) (threads map[uint16]*slowThread, unmatched, tooDeep int) {
	threads = map[uint16]*slowThread{}
	end := t.elapsed
	if end == 0 {
		for _, e := range t.events {
			end = max(end, t.time(e))
		}
	}
	for _, e := range t.events {
		now := min(end, t.time(e))
		thread := threads[e.Thread]
		if thread == nil {
			thread = &slowThread{last: now}
			threads[e.Thread] = thread
		}
		thread.until(now, period)
		at := slices.Index(slices.Collect(backward(thread.stack)), e.Method)
		switch {
		case e.Action == arttrace.Enter && len(thread.stack) == 1000:
			thread.beyond++
			tooDeep++
		case e.Action == arttrace.Enter:
			thread.stack = append(slices.Clone(thread.stack), e.Method)
		case thread.beyond > 0:
			thread.beyond--
		case at < 0:
			unmatched++
		default:
			thread.stack = slices.Clone(thread.stack[:len(thread.stack)-1-at])
		}
	}
	for _, thread := range threads {
		if len(thread.stack) > 0 && !t.onCPU {
			thread.until(end, period)
		}
	}
	return threads, unmatched, tooDeep
}

func (t *slowTrace) time(e arttrace.Event) uint64 {
	micros := e.Wall
	if t.onCPU {
		micros = e.CPU
	}
	if int32(micros) < 0 && uint64(micros) > t.lasted {
		return 0
	}
	return uint64(micros)
}

func backward(ids []uint32) func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for _, id := range slices.Backward(ids) {
			if !yield(id) {
				return
			}
		}
	}
}

// until observes a thread at the points from its last record up to, and without, an instant.
func (t *slowThread) until(now uint64, period time.Duration) {
	if now <= t.last {
		return
	}
	point := func(micros uint64) uint64 {
		return uint64(math.Ceil(float64(micros*1000) / float64(period)))
	}
	if first, end := point(t.last), point(now); first < end {
		t.lines = append(t.lines, fmt.Sprintf("%d to %d: %x", first, end-1, t.stack))
	}
	t.last = now
}

// merged joins adjacent spans of one stack.
func merged(lines []string) (out []string) {
	for _, line := range lines {
		var first, last uint64
		span, stack, _ := strings.Cut(line, ": ")
		_, _ = fmt.Sscanf(span, "%d to %d", &first, &last)
		if len(out) > 0 {
			var before, end uint64
			previous, known, _ := strings.Cut(out[len(out)-1], ": ")
			_, _ = fmt.Sscanf(previous, "%d to %d", &before, &end)
			if known == stack && end+1 == first {
				out[len(out)-1] = fmt.Sprintf("%d to %d: %s", before, last, stack)
				continue
			}
		}
		out = append(out, line)
	}
	return out
}

// compare compares what the package made of a trace with the slow reader.
func compare(t testing.TB, data []byte, trace *arttrace.Trace, o *arttrace.Observations) {
	slow, ok := slowParse(data)
	require.True(t, ok, "not a trace to the slow reader")
	if !slices.Equal(slow.threads, trace.Threads) || !slices.Equal(slow.methods, trace.Methods) {
		require.Equal(t, slow.threads, trace.Threads)
		require.Equal(t, slow.methods, trace.Methods)
	}
	if events := slices.Collect(trace.Events()); !slices.Equal(slow.events, events) {
		require.Equal(t, slow.events, events)
	}
	if o == nil {
		return
	}
	threads, unmatched, tooDeep := slow.observe(o.Period)
	got := map[uint16][]string{}
	for _, run := range o.Runs {
		id := uint16(o.Threads[run.Thread].ID)
		stack := []uint32{}
		for _, method := range o.Stacks.At(run.Stack) {
			stack = append(stack, o.Method(method).ID)
		}
		got[id] = append(got[id], fmt.Sprintf("%d to %d: %x", run.First, run.First+run.Count-1, stack))
	}
	for id, thread := range threads {
		if want := merged(thread.lines); !slices.Equal(want, got[id]) {
			require.Equal(t, want, got[id], "thread %d", id)
		}
		delete(got, id)
	}
	require.Empty(t, got)
	require.Equal(t, []int{unmatched, tooDeep}, []int{o.Unmatched, o.TooDeep})
}
