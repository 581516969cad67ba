// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
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
	eachMessage(trace, tracePacket, func(packet []byte) {
		eachMessage(packet, clockSnapshot, func(snapshot []byte) {
			eachMessage(snapshot, snapshotClock, func(clock []byte) { shiftClock(clock, seconds) })
		})
	})
}

// shiftClock overwrites the time of the real-time clock. Unix nanoseconds have nine bytes as a
// varint until 2262.
func shiftClock(clock []byte, seconds int64) {
	id, at := uint64(0), []byte(nil)
	eachField(clock, func(number protowire.Number, value []byte) {
		switch n, _ := binary.Uvarint(value); number {
		case clockID:
			id = n
		case clockTimestamp:
			at = value
		}
	})
	if id != clockRealtime {
		return
	}
	nanos, length := binary.Uvarint(at)
	if shifted := binary.AppendUvarint(nil, nanos+uint64(seconds*1e9)); len(shifted) == length {
		copy(at, shifted)
	}
}

func eachMessage(message []byte, number protowire.Number, do func([]byte)) {
	eachField(message, func(n protowire.Number, value []byte) {
		if content, length := protowire.ConsumeBytes(value); n == number && length > 0 {
			do(content)
		}
	})
}

// eachField visits the encoded values of a message.
func eachField(message []byte, do func(protowire.Number, []byte)) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		message = message[n:]
		length := protowire.ConsumeFieldValue(number, kind, message)
		if length < 0 {
			return
		}
		do(number, message[:length])
		message = message[length:]
	}
}
