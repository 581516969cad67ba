// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// The size of LargeChunk.
const (
	LargeSamples = 20_000
	largeFrames  = 12_000
)

// LargeChunk returns a chunk that is 5 MB as OTLP, more than gRPC servers and Kafka accept by
// default.
func LargeChunk(id string) Chunk {
	return Chunk{
		ID:     id,
		Frames: List(largeFrames, Numbered(`{"function":"`+strings.Repeat("long_", 80), `"}`)),
		Stacks: List(largeFrames, Numbered("[", "]")),
		Samples: List(LargeSamples, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"timestamp":%d.%03d,"thread_id":"1","stack_id":%d}`, 1_795_223_440+i/100, i%100*10, i%largeFrames)
		}),
	}
}

// DrainParts removes the stored profiles and counts the observations in the parts of the profile
// that had this ID before a split.
func DrainParts(t *testing.T, backend *Sink, id string) (n int) {
	t.Helper()
	for _, message := range backend.DrainProfiles() {
		profiles, err := DecodeProfiles(message)
		require.NoError(t, err)
		if ProfileAttribute(profiles, "split.profile_id") == id {
			n += CountObservations(t, [][]byte{message})
		}
	}
	return n
}

// ProfileAttribute returns an attribute of the only profile, "" if it is missing.
func ProfileAttribute(profiles pprofile.Profiles, key string) string {
	value, ok := dictionary.NewView(profiles.Dictionary()).Get(OnlyProfile(profiles).AttributeIndices(), key)
	if !ok {
		return ""
	}
	return value.AsString()
}
