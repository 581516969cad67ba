// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"encoding/base64"
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// MaxValueDepth bounds the nesting of values. SDKs limit it to 10 levels. Deeper values become
// null.
const MaxValueDepth = 32

// JsonOf is the inverse of SetJSON.
func JsonOf(value pcommon.Value) []byte { return appendJSON(nil, value, 0) }

// AppendJSON appends the result of JsonOf.
func AppendJSON(dst []byte, value pcommon.Value) []byte { return appendJSON(dst, value, 0) }

func appendJSON(dst []byte, value pcommon.Value, depth int) []byte {
	switch value.Type() {
	case pcommon.ValueTypeStr:
		return jsonscan.AppendJSONText(dst, value.Str())
	case pcommon.ValueTypeBool:
		return strconv.AppendBool(dst, value.Bool())
	case pcommon.ValueTypeInt:
		return strconv.AppendInt(dst, value.Int(), 10)
	case pcommon.ValueTypeDouble:
		return AppendDouble(dst, value.Double())
	case pcommon.ValueTypeBytes:
		return jsonscan.AppendJSONText(dst, base64.StdEncoding.EncodeToString(value.Bytes().AsRaw()))
	case pcommon.ValueTypeSlice:
		if depth < MaxValueDepth {
			return appendJSONList(dst, value.Slice(), depth)
		}
	case pcommon.ValueTypeMap:
		if depth < MaxValueDepth {
			return appendJSONMap(dst, value.Map(), depth)
		}
	}
	return append(dst, "null"...)
}

func appendJSONList(dst []byte, list pcommon.Slice, depth int) []byte {
	dst = append(dst, '[')
	for i := range list.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, list.At(i), depth+1)
	}
	return append(dst, ']')
}

func appendJSONMap(dst []byte, m pcommon.Map, depth int) []byte {
	dst = append(dst, '{')
	for key, value := range m.All() {
		dst = appendJSON(jsonscan.AppendName(dst, key), value, depth+1)
	}
	return append(dst, '}')
}

// AppendDouble writes a double with a fraction or exponent: 1 as 1.0. Infinity and NaN become text.
func AppendDouble(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendQuote(dst, strconv.FormatFloat(f, 'g', -1, 64))
	}
	before := len(dst)
	dst = jsonscan.AppendFloat(dst, f)
	for _, c := range dst[before:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// JsonString returns a text as JSON.
func JsonString(text string) []byte { return jsonscan.AppendJSONText(nil, text) }

// TypedAttribute is Scratch.Attribute with its own memory.
func TypedAttribute(key string, value pcommon.Value) event.Attribute {
	return new(Scratch).Attribute(key, value)
}

func isFlat(list pcommon.Slice) bool {
	for i, element := range list.All() {
		switch element.Type() {
		case pcommon.ValueTypeStr, pcommon.ValueTypeBool, pcommon.ValueTypeInt:
		case pcommon.ValueTypeDouble:
			if !IsFinite(element.Double()) {
				return false
			}
		default:
			return false
		}
		if i > 0 && element.Type() != list.At(0).Type() {
			return false
		}
	}
	return true
}
