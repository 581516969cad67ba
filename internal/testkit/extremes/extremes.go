// SPDX-License-Identifier: Apache-2.0

// Package extremes changes the numbers in binary files to extreme values, for tests of readers:
// counts, offsets, sizes and IDs that are zero, equal to others, too large, or negative.
package extremes

import (
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// make attacks sets it.
var damaged = flag.Int("damaged", 0, "number of files for tests with damaged files; tests of extremes visit every place")

// Damaged returns the number of inputs for a test that damages them at random.
func Damaged(small, full int) int {
	if testsize.Full() {
		small = full
	}
	return max(small, *damaged)
}

// Every reports whether tests of extremes visit every place.
func Every() bool { return *damaged > 0 }

var values = []uint64{
	0, 1, 2, 3, 127, 128, 255, 1000, 1<<16 - 1, 1 << 16, 1<<24 + 1, math.MaxInt32, 1 << 31, math.MaxUint32, 1 << 32,
	math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64,
}

// The CPU time that an input may take: cpuBase, and cpuPerByte for each byte, as a request of the
// class Pairs (docs/attacks.md). Honest files take a hundredth, so that only work that grows faster
// than the input exceeds it.
const (
	cpuBase    = time.Second
	cpuPerByte = 10 * time.Microsecond
)

// WithinCPU reads an input of size bytes. The test fails if the process takes more CPU time than
// such an input may take. No other test may run at the same time.
func WithinCPU(t testing.TB, size int, what func() string, read func()) {
	t.Helper()
	before := cpuTime()
	read()
	if used, limit := cpuTime()-before, cpuBase+time.Duration(size)*cpuPerByte; used > limit {
		t.Errorf("%s: %v of CPU time for %d bytes, limit %v", what(), used, size, limit)
	}
}

func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func value(random *rand.Rand) uint64 { return values[random.IntN(len(values))] }

// Protobuf returns an encoded message in which one of rarity numbers is extreme, one of rarity
// fields is repeated, and one of them is at the end of its message. Texts that parse as messages
// are changed, too.
func Protobuf(random *rand.Rand, rarity int, message []byte) (out []byte) {
	var last []byte
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return append(append(out, message...), last...)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return append(append(out, message...), last...)
		}
		field := changed(random, rarity, number, kind, message[n:n+size])
		message = message[n+size:]
		switch random.IntN(rarity) {
		case 0:
			out = append(append(out, field...), field...)
		case 1:
			last = append(last, field...)
		default:
			out = append(out, field...)
		}
	}
	return append(out, last...)
}

func changed(random *rand.Rand, rarity int, number protowire.Number, kind protowire.Type, content []byte) []byte {
	out := protowire.AppendTag(nil, number, kind)
	extreme := random.IntN(rarity) == 0
	switch {
	case kind == protowire.BytesType:
		part, _ := protowire.ConsumeBytes(content)
		return protowire.AppendBytes(out, Protobuf(random, rarity, part))
	case kind == protowire.VarintType && extreme:
		return protowire.AppendVarint(out, value(random))
	case kind == protowire.Fixed64Type && extreme:
		return protowire.AppendFixed64(out, value(random))
	}
	return append(out, content...)
}

// Binary returns data in which some numbers of 1, 2, 4 or 8 bytes, within its first bytes, are
// extreme.
func Binary(random *rand.Rand, within int, data []byte) []byte {
	out := append([]byte(nil), data...)
	for range 1 + random.IntN(3) {
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], value(random))
		at := random.IntN(min(within, len(out)))
		copy(out[at:], number[:1<<random.IntN(4)])
	}
	return out
}

// Near returns extreme values for a number of a file: the smallest and largest ones, the size of
// the file, the place of the number, and the value of its neighbour.
func Near(file []byte, at, width int) []uint64 {
	size := uint64(len(file))
	largest := uint64(1)<<(8*width) - 1
	values := []uint64{0, 1, largest, largest >> 1, largest>>1 + 1, largest - 1, size, size - 1, size + 1, uint64(at), size - uint64(at)}
	if at >= width {
		values = append(values, number(file[at-width:], width), number(file[at-width:], width)-1)
	}
	return values
}

func number(b []byte, width int) (n uint64) {
	for i := range width {
		n |= uint64(b[i]) << (8 * i)
	}
	return n
}

// Put writes a number of width bytes.
func Put(b []byte, width int, value uint64, bigEndian bool) {
	for i := range width {
		at := i
		if bigEndian {
			at = width - 1 - i
		}
		b[at] = byte(value >> (8 * i))
	}
}

// Damage damages a file once, in place: a byte, a number, a part that is copied over another one,
// or repeated, or a cut.
func Damage(random *rand.Rand, file []byte) []byte {
	if len(file) < 16 {
		return file
	}
	at := random.IntN(len(file) - 8)
	switch random.IntN(6) {
	case 0:
		file[at] = byte(random.Uint32())
	case 1, 2:
		width := 1 << random.IntN(4)
		values := Near(file, at, width)
		Put(file[at:], width, values[random.IntN(len(values))], random.IntN(4) == 0)
	case 3:
		length := random.IntN(min(len(file)-at, 64))
		copy(file[random.IntN(len(file)):], file[at:at+length])
	case 4:
		if random.IntN(8) == 0 {
			return file[:at]
		}
	case 5:
		length := random.IntN(min(len(file)-at, 256))
		return append(file[:at+length:at+length], file[at:]...)
	}
	return file
}
