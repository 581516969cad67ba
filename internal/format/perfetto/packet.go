// SPDX-License-Identifier: Apache-2.0

package perfetto

// Fields of Trace and TracePacket.
const (
	tracePacket = 1

	packetProcessTree     = 2
	packetClockSnapshot   = 6
	packetTimestamp       = 8
	packetSequence        = 10
	packetInternedData    = 12
	packetSequenceFlags   = 13
	packetCleared         = 41 // from older writers, instead of the flag
	packetClockID         = 58
	packetDefaults        = 59
	packetTrackDescriptor = 60
	packetPerfSample      = 66
)

// flagCleared, in the flags of a packet, clears the tables of its sequence before the packet's own
// entries are added.
const flagCleared = 1

// packet has the fields of a TracePacket that are read.
type packet struct {
	timestamp uint64
	sequence  uint32
	cleared   bool
	clock     uint32 // 0 = the clock of the sequence

	defaults, processTree, clockSnapshot, trackDescriptor, perfSample []byte

	interned [][]byte // usually one, but encodings may be concatenated
}

// read reads a packet. It reports whether the packet is well-formed.
func (p *packet) read(data []byte) bool {
	*p = packet{interned: p.interned[:0]}
	m := message{rest: data}
	for m.next() {
		switch m.number {
		case packetTimestamp:
			p.timestamp = m.value
		case packetSequence:
			p.sequence = m.uint32()
		case packetSequenceFlags:
			p.cleared = p.cleared || m.value&flagCleared != 0
		case packetCleared:
			p.cleared = p.cleared || m.value != 0
		case packetClockID:
			p.clock = m.uint32()
		case packetDefaults:
			p.defaults = m.bytes
		case packetProcessTree:
			p.processTree = m.bytes
		case packetClockSnapshot:
			p.clockSnapshot = m.bytes
		case packetTrackDescriptor:
			p.trackDescriptor = m.bytes
		case packetPerfSample:
			p.perfSample = m.bytes
		case packetInternedData:
			if m.bytes != nil {
				p.interned = append(p.interned, m.bytes)
			}
		}
	}
	return !m.broken
}

// Fields of PerfSample.
const (
	samplePID        = 2
	sampleTID        = 3
	sampleCallstack  = 4
	sampleMode       = 5
	sampleUnwind     = 16
	sampleKernelLost = 17
	sampleSkipped    = 18
	sampleEvent      = 19
)

// skippedOutOfScope is the reason for a sample of a process that is not recorded.
const skippedOutOfScope = 4
