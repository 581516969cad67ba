// SPDX-License-Identifier: Apache-2.0

package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Sentry's ingest formats messages with the crate dynfmt 0.2
// (relay-event-normalization/src/logentry.rs).

const (
	// maxFormatted is the limit of ingest, in bytes: 8,192 characters of up to four bytes. It does
	// not format messages above it.
	maxFormatted = 4 * 8192

	// maxParams bounds the memory for parameters. As JSON, a text of maxFormatted has up to six
	// times its size, so larger parameters cannot all be in the message.
	maxParams = 8 * maxFormatted

	// A short template can repeat a long parameter, and a float of six bytes has 326 digits.
	// Real templates use each parameter once, and few such floats.
	formattedGrowth = 4
	formattedSpare  = 1 << 10
)

// FormatMessage returns the text that Sentry's ingest makes of a template and its parameters: a
// JSON list, or an object. It returns false if ingest does not format the template, but shows it:
//
//   - The parameters are neither a list nor an object.
//   - The template has no placeholder. In a template with "%", only Python's are placeholders
//     ("%s", "%d", "%(name)s"), otherwise "{}", "{0}" and "{name}".
//   - A parameter is missing or null, or is not of the type of its placeholder. Lists have
//     no names, and objects have only names.
//   - The text is longer than 32 KiB.
//
// Width, precision and sign have no effect. Unused parameters do not matter.
//
// The text is at most four times as long as template and parameters together, plus 1 KiB. Longer
// ones are not formatted, although ingest might.
func FormatMessage(template string, params []byte) (formatted string, ok bool) {
	pattern := curlyPlaceholder
	if strings.Contains(template, "%") {
		pattern = pythonPlaceholder
	}
	// A longer template could only become short enough if its parameter names are long.
	if len(params) == 0 || len(template) > maxFormatted || len(params) > maxParams {
		return "", false
	}
	places := pattern.FindAllStringSubmatchIndex(template, -1)
	if len(places) == 0 {
		return "", false
	}
	args, ok := newArguments(params)
	if !ok {
		return "", false
	}
	limit := min(maxFormatted, formattedGrowth*(len(template)+len(params))+formattedSpare)
	var text []byte
	end := 0
	for _, place := range places {
		text = append(text, template[end:place[0]]...)
		if text, ok = args.append(text, placeholderAt(template, place)); !ok || len(text) > limit {
			return "", false
		}
		end = place[1]
	}
	if text = append(text, template[end:]...); len(text) > limit {
		return "", false
	}
	return string(text), true
}

// The placeholders of Python: "%", then optionally a name in parentheses, flags, a width, a
// precision and lengths, then the type. The patterns are those of dynfmt 0.2 (src/python.rs,
// src/curly.rs). Rust's \w and \d are Unicode, and its extended syntax omits the blank of the
// flags: "100% done" is text.
var (
	pythonPlaceholder = regexp.MustCompile(`%(?:\((` + word + `)\))?([#0\-+]*)?(?:\*|\p{Nd}+)?(?:.(?:\*|\p{Nd}+))?[hlL]*([diouxXeEfFgGcrs%])`)
	curlyPlaceholder  = regexp.MustCompile(`\{(` + word + `)?\}`)
)

const word = `[\pL\pM\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}]+`

// placeholder is the place of a parameter in a template.
type placeholder struct {
	key       string // "" = the next parameter
	kind      byte   // Python's conversion type, or inBraces
	alternate bool   // the flag "#"
}

const inBraces = '{'

func placeholderAt(template string, match []int) placeholder {
	p := placeholder{kind: inBraces}
	if match[2] >= 0 {
		p.key = template[match[2]:match[3]]
	}
	if len(match) > 4 {
		p.kind, p.alternate = template[match[6]], match[4] >= 0 && strings.Contains(template[match[4]:match[5]], "#")
	}
	return p
}

type arguments struct {
	list  []any
	named map[string]any
	next  uint64 // position in list
}

func newArguments(params []byte) (args arguments, ok bool) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(params))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return args, false
	}
	args.list, ok = value.([]any)
	if !ok {
		args.named, ok = value.(map[string]any)
	}
	return args, ok
}

// at returns a parameter, or nil if it is missing or null.
func (a *arguments) at(i uint64) any {
	if i < uint64(len(a.list)) {
		return a.list[i]
	}
	return nil
}

// of returns the parameter with a name, or the next one for "".
func (a *arguments) of(name string) any {
	if name != "" {
		return a.named[name]
	}
	a.next++
	return a.at(a.next - 1)
}

// append appends the parameter of a placeholder, or returns false if it is missing or null.
func (a *arguments) append(dst []byte, p placeholder) ([]byte, bool) {
	if p.kind == '%' { // without a parameter
		return append(dst, '%'), true
	}
	var value any
	if i, err := strconv.ParseUint(p.key, 10, 64); err == nil && p.kind == inBraces {
		value = a.at(i)
	} else {
		value = a.of(p.key)
	}
	switch {
	case value == nil:
		return dst, false
	case p.kind == 'r':
		return appendJSONValue(dst, value, p.alternate)
	}
	return appendArgument(dst, value, p.kind, p.alternate)
}

// appendArgument appends a value, or returns false if the type of the placeholder does not accept
// such values (src/formatter.rs). alternate is the flag "#".
func appendArgument(dst []byte, value any, kind byte, alternate bool) ([]byte, bool) {
	integer, float := strings.IndexByte("oxX", kind) >= 0, kind == 'e' || kind == 'E'
	switch value := value.(type) {
	case json.Number:
		bits, f, isFloat, ok := number(value)
		switch {
		case !ok || integer && isFloat || float && !isFloat:
			return dst, false
		case integer:
			return appendBits(dst, bits, kind, alternate), true
		case float:
			return append(dst, strings.Replace(scientific(f, ""), "e", string(kind), 1)...), true
		case isFloat:
			return strconv.AppendFloat(dst, f, 'f', -1, 64), true
		}
		return append(dst, value...), true
	case string:
		return append(dst, value...), !integer && !float
	}
	if integer || float {
		return dst, false
	}
	return appendJSONValue(dst, value, alternate)
}

// number returns an integer of 64 bits (in two's complement), or any other number as a float.
func number(text json.Number) (bits uint64, f float64, isFloat, ok bool) {
	if text != "-0" {
		if i, err := text.Int64(); err == nil {
			return uint64(i), 0, false, true
		}
		if u, err := strconv.ParseUint(string(text), 10, 64); err == nil {
			return u, 0, false, true
		}
	}
	f, err := text.Float64()
	return 0, f, true, err == nil
}

// appendBits appends an integer. Rust's prefixes are lower case.
func appendBits(dst []byte, bits uint64, kind byte, alternate bool) []byte {
	switch {
	case alternate && kind == 'o':
		dst = append(dst, "0o"...)
	case alternate:
		dst = append(dst, "0x"...)
	}
	return fmt.Appendf(dst, "%"+string(kind), bits)
}

// scientific returns a float with the shortest exponent. plus is the sign of positive ones.
func scientific(f float64, plus string) string {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	sign, exponent := exponent[:1], strings.TrimLeft(exponent[1:], "0")
	if sign == "+" {
		sign = plus
	}
	if exponent == "" {
		exponent = "0"
	}
	return digits + "e" + sign + exponent
}

// appendJSONValue appends a value as the crate serde_json writes it: members in the order of their
// names and, if pretty, each on its own line. It returns false for a number beyond that of a float.
func appendJSONValue(dst []byte, value any, pretty bool) ([]byte, bool) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if pretty {
		encoder.SetIndent("", "  ")
	}
	if encoder.Encode(withFloats(value)) != nil {
		return dst, false
	}
	return append(dst, unescaped.Replace(strings.TrimSuffix(text.String(), "\n"))...), true
}

// unescaped has the characters that only Go escapes.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// withFloats replaces the floats in a value by their text in serde_json.
func withFloats(value any) any {
	switch value := value.(type) {
	case json.Number:
		if _, f, isFloat, ok := number(value); isFloat && ok {
			return json.RawMessage(jsonFloat(f))
		} else if !ok {
			return math.Inf(1) // has no JSON
		}
	case []any:
		for i := range value {
			value[i] = withFloats(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = withFloats(value[name])
		}
	}
	return value
}

// jsonFloat returns a float as serde_json writes it.
func jsonFloat(f float64) string {
	if size := math.Abs(f); size != 0 && (size < 1e-5 || size >= 1e16) {
		return scientific(f, "+")
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
