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

// Body is a request that was compressed once and gets a fresh profile id each time it is sent: compressing it anew would cost
// the sender more than the collector spends on it. Between the parts stands the id, in a block of its own that is stored as it
// is; the whole is one gzip member, as SDKs send it.
type body struct {
	plain  [][]byte // what stands between the ids
	packed [][]byte // the same, deflated
	asText bool     // the id is in hex
}

// bodyOf splits a message at the old id.
func bodyOf(message, id []byte, asText bool) body {
	if asText {
		id = []byte(hex.EncodeToString(id))
	}
	b := body{plain: bytes.Split(message, id), asText: asText}
	for i, part := range b.plain {
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, flate.DefaultCompression) // fails for unknown levels only
		_, _ = w.Write(part)                                       // a buffer takes everything
		if i < len(b.plain)-1 {
			_ = w.Flush() // ends at a byte, and is not the last block
		} else {
			_ = w.Close()
		}
		b.packed = append(b.packed, packed.Bytes())
	}
	return b
}

// fresh is the request with a new id, gzipped, and that id.
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
			zipped = append(zipped, 0) // a stored block
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
