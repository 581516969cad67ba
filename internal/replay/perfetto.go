// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

// shiftTraces moves the Perfetto traces in a body by a number of seconds: the Unix times in their
// clock snapshots, from which the times of samples are calculated.
func shiftTraces(body []byte, seconds int64) {
	envelope, err := sentry.ReadEnvelope(body)
	if err != nil {
		return
	}
	for _, item := range envelope.Items {
		if meta := item.Header.MetaLength; meta.Set && 0 < meta.Value && meta.Value < len(item.Payload) {
			shiftTrace(item.Payload[meta.Value:], seconds)
		}
	}
}

// Fields of Trace, TracePacket, ClockSnapshot and its clocks.
const (
	tracePacket    = 1
	clockSnapshot  = 6
	snapshotClock  = 1
	clockID        = 1
	clockTimestamp = 2

	clockRealtime = 1
)

func shiftTrace(trace []byte, seconds int64) {
	for packet := range wire.Within(trace, tracePacket) {
		for snapshot := range wire.Within(packet, clockSnapshot) {
			for clock := range wire.Within(snapshot, snapshotClock) {
				shiftClock(clock, seconds)
			}
		}
	}
}

// shiftClock overwrites the time of the real-time clock. Unix nanoseconds have nine bytes as a
// varint until 2262.
func shiftClock(clock []byte, seconds int64) {
	var id uint64
	var at wire.Field
	for f := range wire.Fields(clock) {
		switch f.Number {
		case clockID:
			id = f.Varint
		case clockTimestamp:
			at = f
		}
	}
	tag := protowire.SizeTag(clockTimestamp)
	if shifted := binary.AppendUvarint(nil, at.Varint+uint64(seconds*1e9)); id == clockRealtime && tag+len(shifted) == len(at.Raw) {
		copy(at.Raw[tag:], shifted)
	}
}
