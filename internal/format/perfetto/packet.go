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
	m := fieldsOf(data)
	for m.next() {
		switch m.Number {
		case packetTimestamp:
			p.timestamp = m.Varint
		case packetSequence:
			p.sequence = m.uint32()
		case packetSequenceFlags:
			p.cleared = p.cleared || m.Varint&flagCleared != 0
		case packetCleared:
			p.cleared = p.cleared || m.Varint != 0
		case packetClockID:
			p.clock = m.uint32()
		case packetDefaults:
			p.defaults = m.Bytes
		case packetProcessTree:
			p.processTree = m.Bytes
		case packetClockSnapshot:
			p.clockSnapshot = m.Bytes
		case packetTrackDescriptor:
			p.trackDescriptor = m.Bytes
		case packetPerfSample:
			p.perfSample = m.Bytes
		case packetInternedData:
			if m.Bytes != nil {
				p.interned = append(p.interned, m.Bytes)
			}
		}
	}
	return !m.Broken
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
