// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// BenchmarkDefinition looks up functions all over bundles of one line.
func BenchmarkDefinition(b *testing.B) {
	for _, megabytes := range []int{1, 24} {
		b.Run(fmt.Sprint(megabytes, "MB"), func(b *testing.B) {
			var script, mappings strings.Builder
			var columns []int64
			for script.Len() < megabytes<<20 {
				mappings.WriteString("SACA,GAAG,EAAE,IAAI,IACF,EAAE,IAAI,EACP,OAAO,EAAE,IAAI,EAAE,GAAG,EAAE,IAAI,")
				fmt.Fprintf(&script, "function f%06d(", len(columns))
				columns = append(columns, int64(script.Len()))
				script.WriteString("a,b){let c=a.get(b);return c&&c.length?c[0]:g(b)}")
			}
			f, _, err := open([]byte(`{"sources":["a"],"mappings":"`+strings.TrimSuffix(mappings.String(), ",")+`"}`), script.String())
			if err != nil {
				b.Fatal(err)
			}
			var frames []symbols.Frame
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i = (i + len(columns)*7/11 + 12345) % len(columns)
				frames, _ = f.DefinitionInColumn(frames[:0], "f", columns[i])
			}
			if len(frames) != 1 {
				b.Fatal(frames)
			}
		})
	}
}
