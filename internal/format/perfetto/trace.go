// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/callstack"
)

// Trace has the call stack samples of a trace. Index 0 of Strings and Mappings means none.
type Trace struct {
	Samples  []Sample // sorted by time
	Threads  []Thread // of the samples, in order of their first packet
	Strings  []string // without duplicates; bytes as sent
	Mappings []Mapping
	Frames   []Frame
	Stacks   callstack.Table // leaf first

	Period time.Duration // as configured in the profiler; 0 if the trace does not contain it
	Lost   Lost
}

// Sample is one observation.
type Sample struct {
	Time   uint64 // Unix nanoseconds
	Stack  int32  // index into Stacks
	Thread int32  // index into Threads
	Mode   CPUMode
	Unwind UnwindError
}

// CPUMode is what a CPU was running at a sample (Profiling.CpuMode).
type CPUMode uint8

const (
	ModeUnknown     CPUMode = 0
	ModeKernel      CPUMode = 1
	ModeUser        CPUMode = 2
	ModeHypervisor  CPUMode = 3
	ModeGuestKernel CPUMode = 4
	ModeGuestUser   CPUMode = 5
)

// UnwindError is the reason why outer frames of a call stack are missing
// (Profiling.StackUnwindError).
type UnwindError uint8

// UnwindComplete means that no frames are missing; 0 means unknown.
const UnwindComplete UnwindError = 1

// Thread is a thread of a sample.
type Thread struct {
	PID, TID uint32
	Name     int32 // index into Strings; "main" if TID equals PID, as on Android
}

// Frame is a position in the code.
type Frame struct {
	Function int32 // index into Strings: a mangled name or, for Java, class and method separated by a dot
	File     int32 // index into Strings
	Line     uint32
	Mapping  int32  // index into Mappings
	RelPC    uint64 // address in the ELF file; 0 for Java, whose code has no address
	HasRelPC bool
}

// Mapping is a part of a file in memory: a segment of native code, or Java code.
type Mapping struct {
	Path     int32 // index into Strings
	BuildID  int32 // index into Strings: the bytes of the GNU build ID
	Start    uint64
	End      uint64
	Offset   uint64 // of the segment in its ELF file
	InFile   uint64 // offset of the ELF file in the file at Path, which may be an APK
	LoadBias uint64 // preferred address of the segment in the ELF file, minus its offset
	Java     bool
}

// Contains reports whether an address is in the mapping.
func (m *Mapping) Contains(address uint64) bool { return m.Start <= address && address < m.End }

// Address returns the absolute address of a frame, and whether it has one: Java frames have none,
// and neither do frames with an address above 64 bits.
//
// libunwindstack computes rel_pc from an absolute address as address - start + offset of the
// segment + load bias. Sentry's ingest adds only the start, so frames of segments with an offset
// are outside of their mapping.
func (t *Trace) Address(f Frame) (uint64, bool) {
	m := t.Mappings[f.Mapping]
	inFile := f.RelPC - m.LoadBias - m.Offset
	address := inFile + m.Start
	if !f.HasRelPC || m.Java || f.RelPC < m.LoadBias || f.RelPC-m.LoadBias < m.Offset || address < inFile {
		return 0, false
	}
	return address, true
}

// Lost counts unusable parts of a trace.
type Lost struct {
	Packets int // malformed or incomplete packets
	Stacks  int // samples with an unknown call stack, or without any known frame
	Clocks  int // samples with a clock that is in no snapshot, or an invalid time
	Skipped int // samples without a call stack, which the profiler did not capture in time
	Frames  int // unknown frames in call stacks that are otherwise used
}
