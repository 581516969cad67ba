// SPDX-License-Identifier: Apache-2.0

package exception

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Texts are an exception by OpenTelemetry's conventions.
type Texts struct{ Type, Message, Stacktrace string }

// Keys are the attributes of texts. The last two have them as the SDK reported them.
var Keys = []string{
	semconv.ExceptionType, semconv.ExceptionMessage, semconv.ExceptionStacktrace, semconv.ExceptionTypeOriginal, semconv.ExceptionStacktraceOriginal,
}

// IsKey reports whether an attribute describes an exception.
func IsKey(key string) bool { return key == semconv.SymbolicationStatus || slices.Contains(Keys, key) }

// Read returns the texts that attributes state.
func Read(attrs pcommon.Map) Texts {
	return Texts{attr.TextOf(attrs, semconv.ExceptionType), attr.TextOf(attrs, semconv.ExceptionMessage), attr.TextOf(attrs, semconv.ExceptionStacktrace)}
}

// ReadReported returns the texts as the SDK reported them, before symbolication.
func ReadReported(attrs pcommon.Map) Texts {
	t := Read(attrs)
	t.Type = attr.FirstText(attr.TextOf(attrs, semconv.ExceptionTypeOriginal), t.Type)
	t.Stacktrace = attr.FirstText(attr.TextOf(attrs, semconv.ExceptionStacktraceOriginal), t.Stacktrace)
	return t
}

// IsException reports whether attributes state a type or a message. Without both, an event would
// have no title.
func IsException(attrs pcommon.Map) bool {
	return attr.TextOf(attrs, semconv.ExceptionType) != "" || attr.TextOf(attrs, semconv.ExceptionMessage) != ""
}

// Headline returns "Type: message", or whichever of the two is present.
func (t Texts) Headline() string {
	return (&event.Exception{Type: t.Type, Value: t.Message}).Headline()
}

// Put sets the texts that are not empty.
func (t Texts) Put(attrs pcommon.Map) {
	attr.PutText(attrs, semconv.ExceptionType, t.Type)
	attr.PutText(attrs, semconv.ExceptionMessage, t.Message)
	attr.PutText(attrs, semconv.ExceptionStacktrace, t.Stacktrace)
}

// Symbolicate replaces type and stack, unless they are absent or empty, and keeps the previous
// ones.
func (t Texts) Symbolicate(attrs pcommon.Map) {
	replace(attrs, semconv.ExceptionStacktrace, semconv.ExceptionStacktraceOriginal, t.Stacktrace)
	replace(attrs, semconv.ExceptionType, semconv.ExceptionTypeOriginal, t.Type)
}

// SymbolicateMessage is Symbolicate for the stack of a message.
func SymbolicateMessage(attrs pcommon.Map, stack string) {
	replace(attrs, semconv.CodeStacktrace, semconv.CodeStacktraceOriginal, stack)
}

func replace(attrs pcommon.Map, key, originalKey, text string) {
	value, ok := attrs.Get(key)
	if !ok || text == "" || value.AsString() == text {
		return
	}
	original := value.AsString()
	value.SetStr(text) // first: PutStr may invalidate value
	attrs.PutStr(originalKey, original)
}
