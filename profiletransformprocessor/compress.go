// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
)

const (
	// compressedShare: once held messages use one part in compressedShare of link::max_held_bytes,
	// new ones are compressed. Below that, compression would only cost CPU time. The others need up
	// to ten times their OTLP size in memory, which is a third of link::max_held_bytes.
	compressedShare = 32
	// minCompressed is the minimum OTLP size of compressed messages. Smaller ones gain little.
	minCompressed = 4 << 10
)

// compressedMessage is a part of a held message as OTLP, compressed with zstd.
type compressedMessage struct {
	body     []byte
	size     int64 // of the part
	memory   int64 // of the part, decoded
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

// compress compresses a message that waits for its spans or for the next component, if the queue
// uses much of its memory. While the next component refuses everything, the messages
// that became due would otherwise use many times link::max_held_bytes.
//
// uncounted is the size of the message if the queue does not count it yet.
func (p *profilesProcessor) compress(h *heldMessage, uncounted int64) {
	if h.bytes < minCompressed || !p.queue.compresses(uncounted) {
		return
	}
	if err := h.compress(); err != nil {
		p.logger.Warn("Cannot compress profiles that wait for spans", zap.Error(err))
	}
}

// compress replaces the parts of a message with their compressed form.
func (h *heldMessage) compress() error {
	zstd, err := codec()
	if err != nil {
		return err
	}
	all, total := make([]compressedMessage, 0, len(h.parts)), int64(0)
	for _, part := range h.parts {
		plain, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(part)
		if err != nil {
			return err
		}
		memory, err := otlpsize.Profiles.Estimate(plain, math.MaxInt)
		if err != nil {
			return err
		}
		c := compressedMessage{body: zstd.EncodeAll(plain, nil), size: int64(len(plain)), memory: int64(memory), profiles: int64(part.ProfileCount())}
		all, total = append(all, c), total+int64(len(c.body))
	}
	h.compressed, h.parts, h.bytes = all, nil, total
	return nil
}

// decompress restores the compressed parts of a message, and of those that joined it. lost is the
// number of profiles for which that fails.
func (h *heldMessage) decompress() (lost int64, err error) {
	for _, each := range append([]*heldMessage{h}, h.joined...) {
		for i := range each.compressed {
			profiles, failed := each.compressed[i].decompress()
			if failed != nil {
				lost, err = lost+each.compressed[i].profiles, errors.Join(err, failed)
			} else {
				h.parts = append(h.parts, profiles)
			}
			h.bytes = 0 // if the parts are refused, retry counts them
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
		for i := range each.compressed {
			n += each.compressed[i].profiles
		}
	}
	return n
}

// decodedBytes returns the memory that decompress needs.
func (h *heldMessage) decodedBytes() (n int64) {
	for _, each := range append([]*heldMessage{h}, h.joined...) {
		for i := range each.compressed {
			n += each.compressed[i].memory
		}
	}
	return n
}

// otlpSize returns the size of a message that is not due, encoded as OTLP.
func (h *heldMessage) otlpSize() int64 {
	if h.compressed == nil {
		return h.bytes
	}
	n := int64(0)
	for i := range h.compressed {
		n += h.compressed[i].size
	}
	return n
}
