// SPDX-License-Identifier: Apache-2.0

package arttrace_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
)

// FuzzART: for any input, parsing does not panic, uses bounded memory, returns valid output, and
// agrees with the slow reader.
func FuzzART(f *testing.F) {
	for _, shape := range shapes() {
		trace, events := shop(shape.version, shape.clock)
		f.Add(shape.write(trace, events))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, _ := read(t, "", data)
		trace, err := arttrace.Parse(data)
		switch {
		case err == nil:
			compare(t, data, trace, o)
		case errors.Is(err, arttrace.ErrMalformed):
			_, ok := slowParse(data)
			require.False(t, ok, "a trace to the slow reader: %v", err)
		}
	})
}
