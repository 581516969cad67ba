// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/callstack"
)

// Trace is the call stack samples of a trace. Index 0 of Strings and Mappings stands for none.
type Trace struct {
	Samples  []Sample // in the order of time
	Threads  []Thread // of the samples, in the order of their first packet
	Strings  []string // each text once; bytes as they were sent
	Mappings []Mapping
	Frames   []Frame
	Stacks   callstack.Table // leaf first

	Period time.Duration // as the profiler was configured; 0 if the trace does not say
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

// UnwindError is why the outer frames of a call stack are missing (Profiling.StackUnwindError).
type UnwindError uint8

// UnwindComplete says that none is missing; 0 that nothing is known.
const UnwindComplete UnwindError = 1

// Thread is a thread that samples name.
type Thread struct {
	PID, TID uint32
	Name     int32 // index into Strings; "main" where TID is PID, as Android calls that thread
}

// Frame is a place in the code.
type Frame struct {
	Function int32 // index into Strings: mangled, or of Java the class, a dot and the method
	File     int32 // likewise
	Line     uint32
	Mapping  int32  // index into Mappings
	RelPC    uint64 // address in the ELF file; 0 of Java, whose code has none
	HasRelPC bool
}

// Mapping is a part of a file in memory: a segment of native code, or code of Java.
type Mapping struct {
	Path     int32 // index into Strings
	BuildID  int32 // likewise: the bytes of the GNU build id
	Start    uint64
	End      uint64
	Offset   uint64 // of the segment in its ELF file
	InFile   uint64 // of the ELF file in the file at Path, which may be an APK
	LoadBias uint64 // the address at which the ELF file wants to be, less its offset
	Java     bool
}

// Address returns the absolute address of a frame, and false if it has none: frames of Java, and those whose address is not a number
// of 64 bits.
//
// libunwindstack makes rel_pc of an absolute address as address - start + offset of the segment + load bias. Sentry's ingest adds the
// start only, which puts frames of segments with an offset outside of their mapping.
func (t *Trace) Address(f Frame) (uint64, bool) {
	m := t.Mappings[f.Mapping]
	inFile := f.RelPC - m.LoadBias - m.Offset
	address := inFile + m.Start
	if !f.HasRelPC || m.Java || f.RelPC < m.LoadBias || f.RelPC-m.LoadBias < m.Offset || address < inFile {
		return 0, false
	}
	return address, true
}

// Lost counts what a trace has and cannot be used.
type Lost struct {
	Packets int // that are not of their published form, or not complete
	Stacks  int // samples whose call stack is unknown, or has no known frame
	Clocks  int // samples whose time is by a clock that no snapshot shows, or is no instant
	Skipped int // samples without a call stack: the profiler had no time to take it
	Frames  int // unknown frames of call stacks that are used otherwise
}
