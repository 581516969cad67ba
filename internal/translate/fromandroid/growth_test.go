// SPDX-License-Identifier: Apache-2.0

package fromandroid

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto/perfettotest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestOneLongTextOfMany: a text of a Perfetto trace is hashed once for each purpose, however many
// frames and mappings refer to it by its index.
func TestOneLongTextOfMany(t *testing.T) {
	const java, native, id = 1, 2, 3
	long := strings.Repeat("package.", 1<<17)
	entry := func(i int) []any {
		mapping := perfettotest.Mapping(i, id, i<<20, (i+1)<<20, 0, native)
		if i%2 == 0 {
			mapping = perfettotest.Mapping(i, 0, i<<20, (i+1)<<20, 0, java)
		}
		return []any{19, mapping, 6, perfettotest.Frame(i, 1, i, 7)}
	}
	for _, count := range []int{400, 800} {
		stack, tables := []int{}, []any{5, perfettotest.Text(1, long), 16, perfettotest.Text(id, long[:1<<16]), 17, perfettotest.Text(java, "base.jar"), 17, perfettotest.Text(native, long[:200])}
		for i := 1; i <= count; i++ {
			stack, tables = append(stack, i), append(tables, entry(i)...)
		}
		data := perfettotest.Trace(perfettotest.Snapshot(), perfettotest.Interned(append(tables, 7, perfettotest.Callstack(1, stack...))...), perfettotest.Sample(0, 40, 1))
		trace, err := PerfettoTrace(data)
		require.NoError(t, err)
		b := dictionary.NewBuilder(pprofile.NewProfiles().Dictionary())
		trace.AddTo(pprofile.NewProfile(), b, trace.Start)
		// The name as that of native code, and its class and method; short texts for each frame.
		assert.Less(t, b.TextBytes(), int64(3*len(data)+1000*count), count)
		b.Release()
	}
}

// TestMethodTraceGrowth: twice as long an ART trace takes at most a fifth more work per call.
func TestMethodTraceGrowth(t *testing.T) {
	testsize.NeedFull(t)
	t.Parallel()
	counted.Linear(t, "./internal/translate/fromandroid", "./internal/format/arttrace", "./profiles/...", "./internal/profiles/...")
}
