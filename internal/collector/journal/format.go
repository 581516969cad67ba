// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

// The key of a record is its number. The value is the format version, the length of the head, the
// head, the body, and a checksum. The key of the range has the first number and the one after the
// last, and a checksum. Records that a later version stored have a range of their own: otherwise,
// each start after a downgrade would search all numbers since then.
//
// Before version 3, each component had its own format, under the same keys; see Options.Upgrade.
const formatVersion = 3

const (
	keyRange = "range"
	keyNewer = "range.newer"
)

func keyOf(number uint64) string        { return strconv.FormatUint(number, 10) }
func retriesKeyOf(number uint64) string { return keyOf(number) + ".retries" }

// Record is a record of a journal.
type Record struct {
	Head []byte // what the client needs to know of the body
	Body []byte // what is delivered
}

const (
	headerSize   = 1 + 4
	checksumSize = 4
)

// Size returns the size of the stored record.
func (r *Record) Size() int64 {
	return int64(headerSize + len(r.Head) + len(r.Body) + checksumSize)
}

func (r *Record) encode() []byte {
	value := append(make([]byte, 0, r.Size()), formatVersion)
	value = binary.BigEndian.AppendUint32(value, uint32(len(r.Head)))
	return collector.AppendChecksum(append(append(value, r.Head...), r.Body...))
}

// split returns the record in a value without version and checksum.
func split(value []byte) (r Record, err error) {
	if len(value) < 4 || uint32(len(value)-4) < binary.BigEndian.Uint32(value) {
		return r, errors.New("is cut off")
	}
	end := 4 + binary.BigEndian.Uint32(value)
	return Record{Head: value[4:end:end], Body: value[end:]}, nil
}

// decode returns the record in a stored value, and the version of its format. A value that is not a
// record is damaged.
func (j *Journal) decode(stored []byte) (r Record, version byte, err error) {
	version, value, err := open(stored)
	if err != nil {
		return r, version, err
	}
	read := split
	if version < formatVersion && j.options.Upgrade != nil {
		read = func(value []byte) (Record, error) { return j.options.Upgrade(version, value) }
	}
	if r, err = read(value); err != nil {
		return r, version, fmt.Errorf("%w: %w", collector.ErrDamaged, err)
	}
	return r, version, nil
}

// ErrNewer is the error of a record that a later version of the collector stored.
var ErrNewer = errors.New("has a newer format than this collector can read")

// seal returns the stored form of a value.
func seal(value []byte) []byte {
	return collector.AppendChecksum(append([]byte{formatVersion}, value...))
}

// open is the inverse of seal. It accepts the values of earlier versions.
func open(stored []byte) (version byte, value []byte, err error) {
	value, err = collector.VerifyChecksum(stored)
	switch {
	case err != nil:
		return 0, nil, err
	case len(value) == 0 || value[0] == 0:
		return 0, nil, fmt.Errorf("%w: has no version", collector.ErrDamaged)
	case value[0] > formatVersion:
		return value[0], nil, fmt.Errorf("%w: its version is %d, and at most %d is expected", ErrNewer, value[0], formatVersion)
	}
	return value[0], value[1:], nil
}

// bounds is a range of numbers.
type bounds struct{ first, next uint64 }

func (b bounds) has(number uint64) bool { return number >= b.first && number < b.next }

// with returns the range that also has a number.
func (b bounds) with(number uint64) bounds {
	if b.first == b.next {
		return bounds{number, number + 1}
	}
	return bounds{min(b.first, number), max(b.next, number+1)}
}

func (b bounds) encode() []byte {
	return collector.AppendChecksum(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, b.first), b.next))
}

// decodeBounds returns the range of numbers, and the state that the viewer stored with it before
// version 3.
func decodeBounds(stored []byte) (b bounds, state []byte, err error) {
	none := bounds{1, 1}
	if stored == nil {
		return none, nil, nil
	}
	value, err := collector.VerifyChecksum(stored)
	if err != nil || len(value) != 16 && len(value) != 24 {
		return none, nil, collector.ErrDamaged
	}
	b = bounds{binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:])}
	if b.first == 0 || b.first > b.next {
		return none, nil, collector.ErrDamaged
	}
	if len(value) == 24 {
		state = value[16:]
	}
	return b, state, nil
}
