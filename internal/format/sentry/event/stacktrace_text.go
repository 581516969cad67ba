// SPDX-License-Identifier: Apache-2.0

package event

import (
	"cmp"
	"strconv"
	"strings"
)

// StacktraceText returns a chain of exceptions as text: the thrown exception first, innermost frame
// first, then its causes. On the wire, both are in reverse order.
//
//	CheckoutError: order A-17 failed
//	    at checkout (shop/orders.py:42)
//	    at handle (shop/web.py:17)
//	Caused by: KeyError: 'SKU000017'
//	    at reserve (shop/stock.py:9)
func StacktraceText(chain []Exception, platform string) string {
	var b strings.Builder
	for i := len(chain) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteString("Caused by: ")
		}
		b.WriteString(chain[i].Headline())
		b.WriteByte('\n')
		writeFrames(&b, chain[i].Stacktrace, platform)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// FramesText returns the frames of a stack as text, innermost first.
func FramesText(stack *Stacktrace, platform string) string {
	var b strings.Builder
	writeFrames(&b, stack, platform)
	return strings.TrimSuffix(b.String(), "\n")
}

// WithThreadStack returns the chain with the stack of the throwing thread if the thrown exception
// has no stack (Native, Cocoa and Android crashes). It does not modify the input.
func WithThreadStack(chain []Exception, threads []EventThread) []Exception {
	thrown := chain[len(chain)-1]
	if thrown.Stacktrace != nil {
		return chain
	}
	for _, thread := range threads {
		threw := thread.ID == thrown.ThreadID && thread.ID != "" || thrown.ThreadID == "" && thread.Crashed.Value
		if threw && thread.Stacktrace != nil {
			thrown.Stacktrace = thread.Stacktrace
			return append(append([]Exception{}, chain[:len(chain)-1]...), thrown)
		}
	}
	return chain
}

func HasFrames(chain []Exception) bool {
	for i := range chain {
		if chain[i].Stacktrace != nil && len(chain[i].Stacktrace.Frames) > 0 {
			return true
		}
	}
	return false
}

// Headline returns "Type: value", or whichever of the two is present.
func (e *Exception) Headline() string {
	switch {
	case e.Type == "":
		return e.Value
	case e.Value == "":
		return e.Type
	}
	return e.Type + ": " + e.Value
}

// HasHeadline reports whether a text is the headline.
func (e *Exception) HasHeadline(text string) bool {
	rest, ok := strings.CutPrefix(text, e.Type)
	if ok && e.Type != "" && e.Value != "" {
		rest, ok = strings.CutPrefix(rest, ": ")
	}
	return ok && rest == e.Value
}

func writeFrames(b *strings.Builder, stack *Stacktrace, platform string) {
	if stack == nil {
		return
	}
	if stack.IsTree() {
		writeTree(b, stack.Frames, platform)
		return
	}
	for i := len(stack.Frames) - 1; i >= 0; i-- {
		b.WriteString("    at ")
		writeFrame(b, &stack.Frames[i], platform)
	}
}

func writeFrame(b *strings.Builder, f *EventFrame, platform string) {
	b.WriteString(frameName(f, cmp.Or(f.Platform, platform)))
	if position := framePosition(f); position != "" {
		b.WriteString(" (")
		b.WriteString(position)
		b.WriteByte(')')
	}
	b.WriteByte('\n')
}

// writeTree writes a call tree as Apple's `sample` does: callers first, each callee indented, with
// its number of samples. No reader of stack traces mistakes the lines for a stack.
//
//	10 main (Shop)
//	  7 loadConfiguration (Shop)
//	  3 setupDatabase (Shop)
func writeTree(b *strings.Builder, frames []EventFrame, platform string) {
	depths := make([]int, len(frames))
	for i := range frames {
		f := &frames[i]
		if p := f.ParentIndex.Value; p >= 0 && p < int64(i) { // a caller precedes its callees
			depths[i] = depths[p] + 1
		}
		b.WriteString("    ")
		b.WriteString(strings.Repeat("  ", min(depths[i], maxIndent)))
		if f.SampleCount.Set {
			b.WriteString(strconv.FormatInt(f.SampleCount.Value, 10))
			b.WriteByte(' ')
		}
		writeFrame(b, f, platform)
	}
}

// maxIndent bounds the indentation of a frame, so that the text grows with the number of frames.
const maxIndent = 32

// frameName returns the function (for Java, with its class, as in Java's own stack traces) or, if
// there is none, the address.
func frameName(f *EventFrame, platform string) string {
	switch {
	case f.Function != "" && f.Module != "" && (platform == "java" || platform == "android"):
		return f.Module + "." + f.Function
	case f.Function != "":
		return f.Function
	case f.InstructionAddr.Set && IsRelative(f.AddrMode):
		return f.AddrMode + "+0x" + strconv.FormatUint(f.InstructionAddr.Value, 16)
	case f.InstructionAddr.Set:
		return "0x" + strconv.FormatUint(f.InstructionAddr.Value, 16)
	case f.Module != "":
		return f.Module
	}
	return "<unknown>"
}

// framePosition returns the known part of file:line:column, or the library of a native frame.
func framePosition(f *EventFrame) string {
	position := cmp.Or(f.Filename, f.AbsPath, f.Package)
	if position == "" || f.Line == 0 {
		return position
	}
	position += ":" + strconv.FormatUint(uint64(f.Line), 10)
	if f.Column != 0 {
		position += ":" + strconv.FormatUint(uint64(f.Column), 10)
	}
	return position
}
