// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// HalveChunk makes two chunks of the payload of one, each with half of its samples, for a server that accepts smaller payloads only.
// Their ids are made of their contents: the same payload gives the same halves each time. It returns nil for a payload that cannot be
// halved. Members of the payload that this package does not know are not in the halves.
func HalveChunk(payload []byte) (halves []Outgoing) {
	d := profile.AcquireDecoder()
	defer d.Release()
	chunk, err := d.Chunk(payload)
	if err != nil || chunk.Samples.Len() < 2 {
		return nil
	}
	all := make([]observation, chunk.Samples.Len())
	for i := range all {
		all[i] = observation{chunk.Samples.Time[i], chunk.Samples.Stack[i], chunk.Samples.Thread[i]}
	}
	sortByTime(all, nil)

	w, lost := partWriter{maxWritten: 2 * sentry.MaxOutgoingChunk}, Export{}
	w.start(chunk, all, weight{period: attr.NominalPeriod}, true, sentry.MaxOutgoingChunk)
	w.halve()
	for w.next(&lost) {
		if len(w.payload) >= len(payload) {
			return nil
		}
		id := sha256.Sum256(w.payload)
		w.setChunkID(hex.EncodeToString(id[:16]))
		halves = append(halves, Outgoing{
			Item:  sentry.Item{Header: chunkHeader(strings.Clone(chunk.Platform)), Payload: bytes.Clone(w.payload)},
			Count: w.count,
		})
	}
	return halves
}

// halve cuts in the middle what is left, in the place of the minutes that start cut it into.
func (w *partWriter) halve() {
	middle, end := len(w.all)/2, len(w.all)
	begin := w.all[middle].time
	w.todo = append(w.todo[:0], partRange{middle, end, max(begin+partNanos, w.all[end-1].time)}, partRange{0, middle, begin})
}
