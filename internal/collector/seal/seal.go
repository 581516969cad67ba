// SPDX-License-Identifier: Apache-2.0

// Package seal tells values of a storage that are as they were written from those that are not. Storage extensions do not: a
// damaged file can give back a value with other bytes in it, which a decoder may take for good.
package seal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrBroken is of a value that is not as it was written.
var ErrBroken = errors.New("is damaged: its checksum is another")

const size = 4 // of the checksum

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Close appends a checksum to a value.
func Close(value []byte) []byte {
	return binary.BigEndian.AppendUint32(value, crc32.Checksum(value, castagnoli))
}

// Open gives the value that was closed.
func Open(sealed []byte) ([]byte, error) {
	if len(sealed) < size {
		return nil, ErrBroken
	}
	value, checksum := sealed[:len(sealed)-size], sealed[len(sealed)-size:]
	if binary.BigEndian.Uint32(checksum) != crc32.Checksum(value, castagnoli) {
		return nil, ErrBroken
	}
	return value, nil
}
