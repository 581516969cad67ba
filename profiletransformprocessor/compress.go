// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.uber.org/zap"
)

const (
	// compressedShare: once held messages use one part in compressedShare of link::max_held_bytes,
	// new ones are compressed. Below that, compression would only cost CPU time.
	compressedShare = 4
	// minCompressed is the minimum OTLP size of compressed messages. Smaller ones gain little.
	minCompressed = 4 << 10
)

// compressedMessage is a held message as OTLP, compressed with zstd.
type compressedMessage struct {
	body     []byte
	size     int64 // of the OTLP message
	profiles int64
}

// zstdCodec encodes and decodes messages. Both are safe for concurrent use.
type zstdCodec struct {
	*zstd.Encoder
	*zstd.Decoder
}

var codec = sync.OnceValues(func() (c zstdCodec, err error) {
	if c.Encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault)); err == nil {
		c.Decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	}
	return c, err
})

// compress compresses a message that waits for its spans, if the queue uses much of its memory.
func (p *profilesProcessor) compress(h *heldMessage) {
	if h.bytes < minCompressed || !p.queue.compresses() {
		return
	}
	if err := h.compress(); err != nil {
		p.logger.Warn("Cannot compress profiles that wait for spans", zap.Error(err))
	}
}

// compress replaces the only part of a message with its compressed form.
func (h *heldMessage) compress() error {
	zstd, err := codec()
	if err != nil {
		return err
	}
	plain, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(h.parts[0])
	if err != nil {
		return err
	}
	h.compressed = &compressedMessage{body: zstd.EncodeAll(plain, nil), size: h.bytes, profiles: profilesIn(h.parts)}
	h.parts, h.bytes = nil, int64(len(h.compressed.body))
	return nil
}

// decompress restores the compressed parts of a message, and of those that joined it. lost is the
// number of profiles for which that fails.
func (h *heldMessage) decompress() (lost int64, err error) {
	for _, each := range append([]*heldMessage{h}, h.joined...) {
		if each.compressed == nil {
			continue
		}
		profiles, failed := each.compressed.decompress()
		if failed != nil {
			lost, err = lost+each.compressed.profiles, errors.Join(err, failed)
		} else {
			h.parts = append(h.parts, profiles)
		}
		each.compressed = nil
	}
	return lost, err
}

func (c *compressedMessage) decompress() (none pprofile.Profiles, err error) {
	zstd, err := codec()
	if err != nil {
		return none, err
	}
	plain, err := zstd.DecodeAll(c.body, make([]byte, 0, c.size))
	if err != nil {
		return none, fmt.Errorf("cannot decompress %d bytes: %w", len(c.body), err)
	}
	return (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(plain)
}

// profiles returns the number of profiles of a message, and of those that joined it.
func (h *heldMessage) profiles() int64 {
	n := profilesIn(h.parts)
	for _, each := range append([]*heldMessage{h}, h.joined...) {
		if each.compressed != nil {
			n += each.compressed.profiles
		}
	}
	return n
}

// otlpSize returns the size of a message that is not due, encoded as OTLP.
func (h *heldMessage) otlpSize() int64 {
	if h.compressed != nil {
		return h.compressed.size
	}
	return h.bytes
}
