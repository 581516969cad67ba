// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// stacktraceText writes a chain of exceptions as a person reads it: the thrown one first with its frames, innermost first,
// then what caused it. Sentry's wire has both the other way round.
//
//	CheckoutError: order A-17 failed
//	    at checkout (shop/orders.py:42)
//	    at handle (shop/web.py:17)
//	Caused by: KeyError: 'SKU000017'
//	    at reserve (shop/stock.py:9)
func stacktraceText(chain []event.Exception, platform string) string {
	var b strings.Builder
	for i := len(chain) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteString("Caused by: ")
		}
		b.WriteString(headline(&chain[i]))
		b.WriteByte('\n')
		writeFrames(&b, chain[i].Stacktrace, platform)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// headline is "Type: value", or the one of the two that is there.
func headline(e *event.Exception) string {
	switch {
	case e.Type == "":
		return e.Value
	case e.Value == "":
		return e.Type
	}
	return e.Type + ": " + e.Value
}

func writeFrames(b *strings.Builder, stack *event.Stacktrace, platform string) {
	if stack == nil {
		return
	}
	for i := len(stack.Frames) - 1; i >= 0; i-- {
		f := &stack.Frames[i]
		b.WriteString("    at ")
		b.WriteString(frameName(f, attr.FirstText(f.Platform, platform)))
		if place := framePlace(f); place != "" {
			b.WriteString(" (")
			b.WriteString(place)
			b.WriteByte(')')
		}
		b.WriteByte('\n')
	}
}

// frameName is the function, with the class in front of it as in java's own traces; the address where there is no function.
func frameName(f *event.EventFrame, platform string) string {
	switch {
	case f.Function != "" && f.Module != "" && attr.Platforms[platform].Language == "java":
		return f.Module + "." + f.Function
	case f.Function != "":
		return f.Function
	case f.InstructionAddr.Set:
		return "0x" + strconv.FormatUint(f.InstructionAddr.Value, 16)
	case f.Module != "":
		return f.Module
	}
	return "<unknown>"
}

// framePlace is file:line:column, as far as they are known; the library of a native frame.
func framePlace(f *event.EventFrame) string {
	place := attr.FirstText(f.Filename, f.AbsPath, f.Package)
	if place == "" || f.Line == 0 {
		return place
	}
	place += ":" + strconv.FormatUint(uint64(f.Line), 10)
	if f.Column != 0 {
		place += ":" + strconv.FormatUint(uint64(f.Column), 10)
	}
	return place
}
