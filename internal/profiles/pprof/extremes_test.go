// SPDX-License-Identifier: Apache-2.0

package pprof_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	kgzip "github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprof"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/extremes"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// TestEveryNumber: extreme numbers in all fields of a file neither crash the reader, nor decide how
// much it allocates.
func TestEveryNumber(t *testing.T) {
	rounds := 500
	if testsize.Full() {
		rounds = 20_000
	}
	var zipped bytes.Buffer
	w := pprof.NewWriter(&zipped)
	require.NoError(t, w.Add(read(timelinetest.Wall, shop...), timeline.Filter{}))
	require.NoError(t, w.Close())
	unzip, err := kgzip.NewReader(&zipped)
	require.NoError(t, err)
	data, err := io.ReadAll(unzip)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(38, 3))
	readable := 0
	for range rounds {
		file := extremes.Protobuf(random, 2+random.IntN(200), data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		message, _, err := pprof.Read(file, importer.Options{})
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1000*len(file)+4<<20))
		if err == nil {
			readable++
			require.Empty(t, conformance.Check(message))
		}
	}
	assert.Greater(t, readable, rounds/50)
}
