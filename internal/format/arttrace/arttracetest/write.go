// SPDX-License-Identifier: Apache-2.0

// Package arttracetest writes method traces of ART, for the tests of packages that read them.
package arttracetest

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
)

// File returns a trace as ART writes it to a file at once.
func File(t arttrace.Trace, events []arttrace.Event) []byte {
	return appendRecords(appendHeader(text(t), t), t, events)
}

// Streaming returns a trace as ART writes it while it records: each method and thread before its
// first record, text at the end.
func Streaming(t arttrace.Trace, events []arttrace.Event) []byte {
	t.Streaming = true
	data := appendHeader(nil, t)
	methods, threads := slices.Clone(t.Methods), slices.Clone(t.Threads)
	named, running := map[uint32]bool{}, map[uint16]bool{}
	for _, e := range events {
		if !named[e.Method] {
			named[e.Method] = true
			data, methods = appendBlocks(t, data, methods, func(m arttrace.Method) bool { return m.ID == e.Method }, methodBlock)
		}
		if !running[e.Thread] {
			running[e.Thread] = true
			data, threads = appendBlocks(t, data, threads, func(t arttrace.Thread) bool { return uint16(t.ID) == e.Thread }, threadBlock)
		}
		data = appendRecords(data, t, []arttrace.Event{e})
	}
	all := func(arttrace.Method) bool { return true }
	data, _ = appendBlocks(t, data, methods, all, methodBlock)
	data, _ = appendBlocks(t, data, threads, func(arttrace.Thread) bool { return true }, threadBlock)
	summary := text(arttrace.Trace{Version: t.Version, Clock: t.Clock, Elapsed: t.Elapsed, Overflow: t.Overflow, VM: t.VM, PID: t.PID,
		Threads: t.Threads})
	return append(binary.LittleEndian.AppendUint32(append(appendThread(data, t, 0), 3), uint32(len(summary))), summary...)
}

// appendBlocks writes the entries that are wanted and returns the others.
func appendBlocks[T any](t arttrace.Trace, data []byte, entries []T, wanted func(T) bool, block func(T) []byte) (_ []byte, rest []T) {
	if !slices.ContainsFunc(entries, wanted) {
		return data, entries // of most records
	}
	for _, entry := range entries {
		if !wanted(entry) {
			rest = append(rest, entry)
			continue
		}
		data = append(appendThread(data, t, 0), block(entry)...)
	}
	return data, rest
}

func methodBlock(m arttrace.Method) []byte {
	line := methodLine(m)
	return append(binary.LittleEndian.AppendUint16([]byte{1}, uint16(len(line))), line...)
}

func threadBlock(t arttrace.Thread) []byte {
	block := binary.LittleEndian.AppendUint16([]byte{2}, uint16(t.ID))
	return append(binary.LittleEndian.AppendUint16(block, uint16(len(t.Name))), t.Name...)
}

var clockNames = map[arttrace.Clock]string{
	arttrace.ClockGlobal: "global", arttrace.ClockWall: "wall", arttrace.ClockThreadCPU: "thread-cpu", arttrace.ClockDual: "dual",
}

func text(t arttrace.Trace) []byte {
	data := fmt.Appendf(nil, "*version\n%d\ndata-file-overflow=%t\nclock=%s\n", t.Version, t.Overflow, clockNames[t.Clock])
	data = fmt.Appendf(data, "elapsed-time-usec=%d\nclock-call-overhead-nsec=0\nvm=%s\npid=%s\n*threads\n", t.Elapsed.Microseconds(), t.VM, t.PID)
	for _, thread := range t.Threads {
		data = fmt.Appendf(data, "%d\t%s\n", thread.ID, thread.Name)
	}
	data = append(data, "*methods\n"...)
	for _, method := range t.Methods {
		data = append(data, methodLine(method)...)
	}
	return append(data, "*end\n"...)
}

func methodLine(m arttrace.Method) []byte {
	line := fmt.Appendf(nil, "%#x\t%s\t%s\t%s\t%s", m.ID, m.Class, m.Name, m.Signature, m.File)
	if m.Line > 0 {
		line = fmt.Appendf(line, "\t%d", m.Line)
	}
	return append(line, '\n')
}

const headerSize = 32

func appendHeader(data []byte, t arttrace.Trace) []byte {
	version := uint16(t.Version)
	if t.Streaming {
		version |= 0xF0
	}
	header := binary.LittleEndian.AppendUint16([]byte("SLOW"), version)
	header = binary.LittleEndian.AppendUint16(header, headerSize)
	header = binary.LittleEndian.AppendUint64(header, uint64(t.SinceBoot.Microseconds()))
	if t.Version == 3 {
		size := uint16(10)
		if t.Clock == arttrace.ClockDual {
			size = 14
		}
		header = binary.LittleEndian.AppendUint16(header, size)
	}
	return append(data, append(header, make([]byte, headerSize-len(header))...)...)
}

func appendRecords(data []byte, t arttrace.Trace, events []arttrace.Event) []byte {
	for _, e := range events {
		data = binary.LittleEndian.AppendUint32(appendThread(data, t, e.Thread), e.Method|uint32(e.Action))
		if t.Clock == arttrace.ClockDual || t.Clock == arttrace.ClockThreadCPU {
			data = binary.LittleEndian.AppendUint32(data, e.CPU)
		}
		if t.Clock != arttrace.ClockThreadCPU {
			data = binary.LittleEndian.AppendUint32(data, e.Wall)
		}
	}
	return data
}

func appendThread(data []byte, t arttrace.Trace, id uint16) []byte {
	if t.Version == 1 {
		return append(data, byte(id))
	}
	return binary.LittleEndian.AppendUint16(data, id)
}
