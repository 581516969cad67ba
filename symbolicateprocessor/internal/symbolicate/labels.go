// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// role is the meaning of an attribute for symbolication.
type role uint8

const (
	other role = iota
	done       // symbolication.status, or a part of the raw frame
	v8         // frame types
	jvm
	class
	signature
	inApp
)

// readAttributes determines the roles of the message's attributes, so that the frames compare no
// keys.
func (e *editor) readAttributes() {
	e.attributes = make([]role, e.dict.AttributeTable().Len())
	for i := range e.attributes {
		a, _ := e.view.Attribute(dictionary.AttributeIndex(i))
		e.attributes[i] = roleOf(a.Key, a.Value)
	}
}

func roleOf(key string, value pcommon.Value) role {
	switch key {
	case semconv.SymbolicationStatus, semconv.SentryFrameRawFunction, semconv.SentryFrameRawModule, semconv.SentryFrameRawFile,
		semconv.SentryFrameRawLine, semconv.SentryFrameRawColumn:
		return done
	case semconv.ProfileFrameType:
		switch value.AsString() {
		case "v8js":
			return v8
		case "jvm":
			return jvm
		}
	case semconv.SentryFrameModule:
		return class
	case semconv.SentryFrameSignature:
		return signature
	case semconv.SentryFrameInApp:
		return inApp
	}
	return other
}

// labels are the attributes of a location. Index 0 means none.
type labels struct {
	done             bool
	kind             role // v8, jvm or other
	class, signature dictionary.AttributeIndex
	inApp            bool // the SDK states whether the frame belongs to the application
}

// readLabels reads the attributes of the current location.
func (e *editor) readLabels() {
	e.labels = labels{}
	for _, i := range e.loc.Attributes {
		switch r := e.attributes[i]; r {
		case done:
			e.labels.done = true
		case v8, jvm:
			e.labels.kind = r
		case class:
			e.labels.class = i
		case signature:
			e.labels.signature = i
		case inApp:
			e.labels.inApp = true
		}
	}
}

// label returns the text of an attribute, or "" for index 0.
func (e *editor) label(i dictionary.AttributeIndex) string {
	if i == 0 {
		return ""
	}
	a, _ := e.view.Attribute(i)
	if a.Value.Type() == pcommon.ValueTypeStr {
		return a.Value.Str()
	}
	text, known := e.texts[i] // of a map: written once
	if !known {
		text = a.Value.AsString()
		e.texts[i] = text
	}
	return text
}
