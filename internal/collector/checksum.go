// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrDamaged is the error of a stored value that differs from the one that was written. Storage
// extensions do not detect this: a damaged file can return a value with other bytes, which a
// decoder may accept.
var ErrDamaged = errors.New("is damaged")

var errChecksum = fmt.Errorf("%w: its checksum does not match", ErrDamaged)

const checksumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendChecksum appends a checksum to a value.
func AppendChecksum(value []byte) []byte {
	return binary.BigEndian.AppendUint32(value, crc32.Checksum(value, castagnoli))
}

// VerifyChecksum returns the value without its checksum. The error is ErrDamaged.
func VerifyChecksum(stored []byte) ([]byte, error) {
	if len(stored) < checksumSize {
		return nil, errChecksum
	}
	value, checksum := stored[:len(stored)-checksumSize], stored[len(stored)-checksumSize:]
	if binary.BigEndian.Uint32(checksum) != crc32.Checksum(value, castagnoli) {
		return nil, errChecksum
	}
	return value, nil
}
