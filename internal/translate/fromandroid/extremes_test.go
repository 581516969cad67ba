// SPDX-License-Identifier: Apache-2.0

package fromandroid

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto/perfettotest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/extremes"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestEveryNumber: extreme numbers in traces of both formats neither crash the readers and the
// translation, nor decide how much they allocate.
func TestEveryNumber(t *testing.T) {
	rounds := 150
	if testsize.Full() {
		rounds = 300
	}
	app, events := arttracetest.App()
	app.Version = 3
	file, streaming := arttracetest.File(app, events), arttracetest.Streaming(app, events)
	perfettoTrace := perfettotest.Trace(perfettotest.Snapshot(), perfettotest.Interned(5, perfettotest.Text(1, "com.example.Shop.total"), 16, perfettotest.Text(1, "0123456789abcdef0123"),
		17, perfettotest.Text(1, "base.jar"), 17, perfettotest.Text(2, "libshop.so"), 18, perfettotest.Text(1, "Shop.kt"),
		19, perfettotest.Mapping(1, 0, 1<<20, 2<<20, 0, 1), 19, perfettotest.Mapping(2, 1, 3<<20, 4<<20, 4096, 2),
		6, perfettotest.Frame(1, 1, 1, 7), 6, perfettotest.Frame(2, 1, 2, 99), 7, perfettotest.Callstack(1, 1, 2), 7, perfettotest.Callstack(2, 2)),
		perfettotest.Sample(0, 40, 1), perfettotest.Sample(1, 41, 2), perfettotest.Sample(2, 40, 1))
	random := rand.New(rand.NewPCG(38, 4))
	for name, read := range map[string]func() ([]byte, func([]byte) (*Trace, error)){
		"file": func() ([]byte, func([]byte) (*Trace, error)) {
			return extremes.Binary(random, len(file), file), func(data []byte) (*Trace, error) { return MethodTrace(data, 10*time.Millisecond, 1000) }
		},
		"streaming": func() ([]byte, func([]byte) (*Trace, error)) {
			return extremes.Binary(random, len(streaming), streaming), func(data []byte) (*Trace, error) { return MethodTrace(data, 10*time.Millisecond, 1000) }
		},
		"perfetto": func() ([]byte, func([]byte) (*Trace, error)) {
			return extremes.Protobuf(random, 2+random.IntN(100), perfettoTrace), PerfettoTrace
		},
	} {
		readable := 0
		for range rounds {
			data, parse := read()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			trace, err := parse(data)
			if err == nil {
				readable++
				b := dictionary.NewBuilder(pprofile.NewProfiles().Dictionary())
				trace.AddTo(pprofile.NewProfile(), b, max(trace.Start, start))
				b.Finish()
				b.Release()
			}
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(Weight(int64(len(data))))+4<<20, name)
		}
		assert.Greater(t, readable, rounds/50, name)
	}
}
