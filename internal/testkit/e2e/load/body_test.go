// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
)

// body is a request that is compressed once and gets a new profile ID each time it is sent:
// otherwise, compression would use more CPU time than the collector. The ID is between the parts,
// in its own stored block. The whole body is one gzip member, as SDKs send it.
type body struct {
	plain  [][]byte // the parts between the IDs
	packed [][]byte // the same, deflated
	asText bool     // the ID is in hex
}

// bodyOf splits a message at its old ID.
func bodyOf(message, id []byte, asText bool) body {
	if asText {
		id = []byte(hex.EncodeToString(id))
	}
	b := body{plain: bytes.Split(message, id), asText: asText}
	for i, part := range b.plain {
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, flate.DefaultCompression) // fails only for unknown levels
		_, _ = w.Write(part)                                       // writes to a buffer cannot fail
		if i < len(b.plain)-1 {
			_ = w.Flush() // flushes to a byte boundary, without ending the stream
		} else {
			_ = w.Close()
		}
		b.packed = append(b.packed, packed.Bytes())
	}
	return b
}

// fresh returns the request with a new ID, gzipped, and the ID.
func (b body) fresh() (zipped []byte, id [16]byte) {
	_, _ = rand.Read(id[:]) // never fails
	text := id[:]
	if b.asText {
		text = []byte(hex.EncodeToString(text))
	}
	zipped = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
	checksum, size := uint32(0), 0
	for i, part := range b.packed {
		if i > 0 {
			zipped = append(zipped, 0) // header of a stored block
			zipped = binary.LittleEndian.AppendUint16(zipped, uint16(len(text)))
			zipped = binary.LittleEndian.AppendUint16(zipped, ^uint16(len(text)))
			zipped = append(zipped, text...)
			checksum = crc32.Update(checksum, crc32.IEEETable, text)
			size += len(text)
		}
		zipped = append(zipped, part...)
		checksum = crc32.Update(checksum, crc32.IEEETable, b.plain[i])
		size += len(b.plain[i])
	}
	zipped = binary.LittleEndian.AppendUint32(zipped, checksum)
	return binary.LittleEndian.AppendUint32(zipped, uint32(size)), id
}
