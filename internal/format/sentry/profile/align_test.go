// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

func TestAlign(t *testing.T) {
	at := func(nano uint64) jsonscan.Timestamp { return jsonscan.Timestamp{UnixNano: nano, Set: true} }
	cut := jsonscan.Timestamp{UnixNano: 1e9, Set: true, WholeSeconds: true}
	relative := func(nano uint64) jsonscan.Uint { return jsonscan.Uint{Value: nano, Set: true} }
	for name, c := range map[string]struct {
		anchor     jsonscan.Timestamp
		relative   jsonscan.Uint
		start, end jsonscan.Timestamp
		by         int64
		why        Alignment
	}{
		"as it is":                         {anchor: at(100), start: at(90), end: at(200)},
		"browser: a zero says nothing":     {anchor: at(100), relative: relative(0), start: at(90), end: at(200)},
		"the transaction starts later":     {anchor: at(100), relative: relative(30), start: at(150), end: at(200), by: 20, why: AlignedRelativeStart},
		"likewise, and that is so":         {anchor: at(100), relative: relative(50), start: at(150), end: at(200)},
		"before a cut anchor":              {anchor: cut, relative: relative(50), start: at(1e9), end: at(2e9), by: -50, why: AlignedRelativeStart},
		"no such time":                     {anchor: at(100), relative: relative(math.MaxUint64), start: at(90), end: at(200)},
		"ruby":                             {anchor: cut, start: at(1.9e9), end: at(2e9), by: 0.9e9, why: AlignedCutAnchor},
		"python 1.15":                      {anchor: at(200), relative: relative(0), start: at(90), end: at(200), by: -110, why: AlignedLateAnchor},
		"just before the end":              {anchor: at(199), start: at(90), end: at(200)},
		"no anchor: it is the transaction": {start: at(90), end: at(200)},
		"no times of the transaction":      {anchor: cut},
		"no end of it":                     {anchor: at(100), start: at(90)},
	} {
		by, why := Align(c.anchor, c.relative, c.start, c.end)
		assert.Equal(t, c.by, by, name)
		assert.Equal(t, c.why, why, name)
	}
}
