// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// rawFrame is a symbolicated frame as the profiler wrote it.
type rawFrame struct {
	function, module, file string
	line, column           int64
	replaced               bool // the location has names from a symbol file
}

// read reads an attribute of a location.
func (r *rawFrame) read(a dictionary.Attribute, text func() string) {
	switch a.Key {
	case semconv.SymbolicationStatus:
		r.replaced = r.replaced || a.Value.AsString() == "ok" // native frames have an address instead of raw attributes
		return
	case semconv.SentryFrameRawFunction:
		r.function = text()
	case semconv.SentryFrameRawModule:
		r.module = text()
	case semconv.SentryFrameRawFile:
		r.file = text()
	case semconv.SentryFrameRawLine:
		r.line = number(a.Value)
	case semconv.SentryFrameRawColumn:
		r.column = number(a.Value)
	default:
		return
	}
	r.replaced = true
}

func number(v pcommon.Value) int64 {
	if v.Type() != pcommon.ValueTypeInt {
		return 0
	}
	return v.Int()
}

// rawFrame returns the raw frame of the current location.
func (c *code) rawFrame(frame Frame) Frame {
	frame.Name = cmp.Or(c.raw.function, anonymous(c.raw.file), c.addressName())
	frame.Module, frame.File = cmp.Or(c.raw.module, frame.Module), c.raw.file
	return frame
}
