// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// stacktraceText returns a chain of exceptions in the platform's notation, the outermost exception
// first.
func stacktraceText(units []measure.ExceptionUnit, framework string) string {
	var b strings.Builder
	frames := maxExceptionFrames
	for i := range units[:min(len(units), maxExceptionUnits)] {
		unit := &units[i]
		if i > 0 {
			b.WriteString("\nCaused by: ")
		}
		b.WriteString(strings.TrimSuffix(attr.FirstText(unit.Type, unit.Signal)+": "+unit.Message, ": "))
		n := min(len(unit.Frames), frames)
		for j := range unit.Frames[:n] {
			b.WriteByte('\n')
			writeFrame(&b, j, &unit.Frames[j], framework)
		}
		frames -= n
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func writeFrame(b *strings.Builder, index int, f *measure.Frame, framework string) {
	switch framework {
	case measure.FrameworkApple:
		fmt.Fprintf(b, "%-3d %s 0x%s %s + %d", index, f.BinaryName, f.SymbolAddress, f.BinaryAddress, f.Offset.Value)
	case measure.FrameworkDart:
		if f.InstructionAddress != "" {
			fmt.Fprintf(b, "#%-2d abs %s", index, strings.TrimPrefix(f.InstructionAddress, "0x"))
			return
		}
		fmt.Fprintf(b, "#%-2d %s (%s)", index, joinPresent(".", f.ClassName, f.MethodName), joinPresent(":", f.ModuleName+f.FileName, intText(f.Line), intText(f.Column)))
	case measure.FrameworkJS:
		fmt.Fprintf(b, "    at %s (%s)", attr.FirstText(f.MethodName, "<anonymous>"), joinPresent(":", f.FileName, intText(f.Line), intText(f.Column)))
	default:
		fmt.Fprintf(b, "\tat %s(%s)", joinPresent(".", f.ClassName, f.MethodName), javaPlace(f))
	}
}

// javaNativeLine is the line number that the JVM uses for native methods.
const javaNativeLine = -2

func javaPlace(f *measure.Frame) string {
	switch {
	case f.Line.Value == javaNativeLine:
		return "Native Method"
	case f.FileName == "":
		return "Unknown Source"
	case f.Line.Value <= 0:
		return f.FileName
	}
	return f.FileName + ":" + intText(f.Line)
}

// joinPresent joins the parts that are not empty.
func joinPresent(separator string, parts ...string) string {
	var present []string
	for _, part := range parts {
		if part != "" {
			present = append(present, part)
		}
	}
	return strings.Join(present, separator)
}

func intText(n measure.Int) string {
	if !n.Set {
		return ""
	}
	return strconv.FormatInt(n.Value, 10)
}
