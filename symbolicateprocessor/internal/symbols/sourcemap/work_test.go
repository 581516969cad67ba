// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"context"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// open reads a map and its script within the limits.
func open(text []byte, script string) (*File, *symbols.Work, error) {
	work := symbols.NewWork(context.Background(), int64(len(text)+len(script)), Limits, nil)
	m, err := Read(work, text)
	if err != nil {
		return nil, work, err
	}
	f, err := NewFile(work, m, script)
	return f, work, err
}

// readMap reads a map within the limits.
func readMap(text []byte) (*Map, error) {
	return Read(symbols.NewWork(context.Background(), int64(len(text)), Limits, nil), text)
}
