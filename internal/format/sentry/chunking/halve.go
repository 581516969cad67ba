// SPDX-License-Identifier: Apache-2.0

package chunking

import (
	"bytes"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// Halve splits the payload of a chunk into two payloads with half of the samples each, for servers
// that accept only smaller payloads. IDs are derived from the content, so the result is
// deterministic. Members that the decoder does not know are omitted. Halve returns nil if the
// payload cannot be halved.
func Halve(payload []byte) (halves []Part) {
	d := profile.AcquireDecoder()
	defer d.Release()
	chunk, err := d.Chunk(payload)
	if err != nil || chunk.Samples.Len() < 2 {
		return nil
	}
	all := make([]Observation, chunk.Samples.Len())
	for i := range all {
		all[i] = Observation{Time: chunk.Samples.Time[i], Stack: chunk.Samples.Stack[i], Thread: chunk.Samples.Thread[i]}
	}
	new(TimeSorter).Sort(all)

	var s Splitter
	s.Open(2 * sentry.MaxOutgoingChunk)
	s.open(Profile{Chunk: chunk, Observations: all, Period: profile.NominalPeriod, AsSent: true}, sentry.MaxOutgoingChunk)
	middle, end := len(all)/2, len(all)
	begin := all[middle].Time
	s.todo = append(s.todo,
		partRange{first: middle, end: end, limit: max(begin+partNanos, all[end-1].Time)},
		partRange{first: 0, end: middle, limit: begin})
	for half := range s.write {
		if len(half.Payload) >= len(payload) {
			return nil
		}
		half.SetChunkID(half.ContentID())
		half.Payload = bytes.Clone(half.Payload)
		halves = append(halves, half)
	}
	return halves
}
