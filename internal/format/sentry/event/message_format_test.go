// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/relaytest"
)

// messageCases have the texts of Sentry's own library, sentry-relay 0.10.1 (TestFormatMessageOracle
// compares them again). "" = not formatted: the template is the message.
var messageCases = []struct{ template, params, want string }{
	// relay-event-normalization/src/logentry.rs: its tests
	{"hello, %s!", `["world"]`, "hello, world!"},
	{"hello, %(name)s!", `{"name":"world"}`, "hello, world!"},
	{"hello, {}!", `["world"]`, "hello, world!"},
	{"hello, {0}!", `["world"]`, "hello, world!"},
	{"hello, %s!", ``, ""},
	{"hello, %s!", `42`, ""},
	{"hello, %s!", `"world"`, ""},
	{"hello, %s!", `null`, ""},
	{"hello, world!", `["x"]`, ""},
	{"", `["x"]`, ""},

	// src/python.rs: name, flags, width, precision, length, type; all but "#" without effect
	{"%d %i %u %c %s %f %F %g %G", `[1,2,3,"c","s",1.5,2.5,3.0,4]`, "1 2 3 c s 1.5 2.5 3 4"},
	{"%5.2f|%-5s|%+d|%05d|% d", `[4.2,"a",5,6,7]`, "4.2|a|5|6|% d"},
	{"%ld %hhd %Ld", `[1,2,3]`, "1 2 3"},
	{"%*d %.*f", `[5,6.5]`, "5 6.5"},
	{"%x3d %_5d %é5d", `[1,2,3]`, "1 2 3"}, // any character is the dot
	{"%v %j %1$s %.f", `["a"]`, ""},
	{"%(nä)s", `{"nä":"n"}`, "n"},
	{"%(a b)s %(a-b)s %()s", `{"a b":1,"a-b":2}`, ""},
	{"100%% of %s", `["a"]`, "100% of a"},
	{"%% %5% %l% %(a)%", `[]`, "% % % %"},
	{"100%", `["a"]`, ""},
	{"100% done", `["a"]`, ""},         // no blank among the flags
	{"100% 5done", `["a"]`, "100aone"}, // the blank is the dot
	{"%s %s", `["a"]`, ""},
	{"%s", `["a","b"]`, "a"},
	{"%s", `[null]`, ""},
	{"%(name)s", `["n"]`, ""},
	{"%(name)s %s", `{"name":"n"}`, ""},
	{"%s", `{"0":"n"}`, ""},
	{"{} %", `["a"]`, ""}, // with "%", "{}" is text
	{"{} %s", `["a"]`, "{} a"},
	{"%\n5d", `[1]`, ""},

	// src/formatter.rs: types and values
	{"%d", `["text"]`, "text"},
	{"%s %s", `[true,false]`, "true false"},
	{"%x %X %o", `[255,255,8]`, "ff FF 10"},
	{"%#x %#X %#o", `[255,255,8]`, "0xff 0xFF 0o10"},
	{"%x %o", `[-1,-8]`, "ffffffffffffffff 1777777777777777777770"},
	{"%x", `[4.5]`, ""},
	{"%x", `["a"]`, ""},
	{"%x", `[true]`, ""},
	{"%x", `[[1]]`, ""},
	{"%e %E %#e", `[0.000012,1.5e300,1.5]`, "1.2e-5 1.5E300 1.5e0"},
	{"%e", `[42]`, ""},
	{"%e", `["a"]`, ""},
	{"%s %s %s", `[100.0,0.1,-0.0]`, "100 0.1 -0"},
	{"%s %s", `[1e21,1e-7]`, "1000000000000000000000 0.0000001"},
	{"%s %s", `[18446744073709551615,-9223372036854775808]`, "18446744073709551615 -9223372036854775808"},
	{"%s %s", `[-9223372036854775809,-0]`, "-9223372036854776000 -0"},
	{"%s", `[[1,2]]`, "[1,2]"},
	{"%s", `[{"b":1,"a":null,"c":[1.0,true,"x<\u2028é\u0001\/"]}]`, `{"a":null,"b":1,"c":[1.0,true,"x<` + "\u2028" + `é\u0001/"]}`},
	{"%s", `[[1e15,1e16,1e-5,1e-6,1.5e300,-0.0]]`, "[1000000000000000.0,1e+16,0.00001,1e-6,1.5e+300,-0.0]"},
	{"%r %r", `["a\"b",1.0]`, `"a\"b" 1.0`},
	{"%r", `["\\ \b\t\n\f\r\u0001\u007f"]`, `"\\ \b\t\n\f\r\u0001` + "\x7f" + `"`},
	{"%#r", `[{"a":[1,2],"b":{},"c":[]}]`, "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}"},
	{"%#s %#d", `["a",5]`, "a 5"},

	// src/curly.rs
	{"{} {}", `["a","b"]`, "a b"},
	{"{} {0} {}", `["a","b"]`, "a a b"},
	{"{1} {01}", `["a","b"]`, "b b"},
	{"{name} {_a}", `{"name":"x","_a":1}`, "x 1"},
	{"{ключ}", `{"ключ":"a"}`, "a"},
	{"{a}{a}", `{"a":1,"a":2}`, "22"},
	{"{name}", `["x"]`, ""},
	{"{}", `{"0":"x"}`, ""},
	{"{0}", `{"0":"x"}`, ""},
	{"{99999999999999999999999}", `{"99999999999999999999999":"a"}`, "a"},
	{"{٣}", `["a","b","c","d"]`, ""},
	{"{{}}", `["x"]`, "{x}"},
	{"{:d} {} {a.b} {-1} { }", `["x"]`, "{:d} x {a.b} {-1} { }"},
	{"{", `["x"]`, ""},
	{"{}", `[]`, ""},
	{"{}", `[[null,{"a":{"b":[{}]}}]]`, `[null,{"a":{"b":[{}]}}]`},

	// the limit of ingest
	{"{0}{0}{0}", `["` + strings.Repeat("#", 9000) + `"]`, strings.Repeat("#", 27000)},
	{"{0}{0}{0}{0}", `["` + strings.Repeat("#", 9000) + `"]`, ""},
	{"{} end", `["` + strings.Repeat("#", 40000) + `"]`, ""},
}

func TestFormatMessage(t *testing.T) {
	for _, c := range messageCases {
		formatted, ok := FormatMessage(c.template, []byte(c.params))
		assert.Equal(t, c.want, formatted, "%.40s with %.60s", c.template, c.params)
		assert.Equal(t, c.want != "", ok, "%.40s with %.60s", c.template, c.params)
	}
}

// TestFormatMessageOracle compares the cases with Sentry's own library.
func TestFormatMessageOracle(t *testing.T) {
	relaytest.Python(t)
	var events [][]byte
	for _, c := range messageCases {
		template, err := json.Marshal(c.template)
		require.NoError(t, err)
		if c.params == "" {
			c.params = "null"
		}
		events = append(events, fmt.Appendf(nil, `{"logentry":{"message":%s,"params":%s}}`, template, c.params))
	}
	for i, stored := range relaytest.Strip(t, events) {
		var event struct {
			Logentry struct{ Message, Formatted string }
		}
		require.NoError(t, json.Unmarshal(stored[0], &event))
		want, _ := FormatMessage(messageCases[i].template, []byte(messageCases[i].params))
		if want == "" {
			want = messageCases[i].template
		}
		if got := event.Logentry.Formatted; len(want) <= 8192 { // ingest stores at most so many characters
			assert.Equal(t, want, got, "%.40s with %.60s", messageCases[i].template, messageCases[i].params)
		}
	}
}

// TestFormatMessageDiffers lists the known differences from ingest.
func TestFormatMessageDiffers(t *testing.T) {
	for _, c := range []struct{ template, params, want, why string }{
		{"%s", `[18446744073709551616]`, "18446744073709552000", "its parser reads integers above 64 bits as 0"},
		{strings.Repeat("{0}", 100), `["` + strings.Repeat("#", 90) + `"]`, "", "it only has a fixed limit"},
		{"%(" + strings.Repeat("a", maxFormatted) + ")s", `{"` + strings.Repeat("a", maxFormatted) + `":"x"}`, "", "its template may be long"},
	} {
		formatted, _ := FormatMessage(c.template, []byte(c.params))
		assert.Equal(t, c.want, formatted, c.why)
	}
}

// TestFormatMessageBounded: no repetition, nesting or notation makes the text longer than stated.
func TestFormatMessageBounded(t *testing.T) {
	nested := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	for _, template := range []string{strings.Repeat("{0}", 5000), strings.Repeat("%#s%%", 5000), "%#s", "%#r", "%s", strings.Repeat("%s", 3000), strings.Repeat("%x", 3000)} {
		for _, params := range []string{`["a"]`, `["` + strings.Repeat("a", 1000) + `"]`, "[" + nested + "]", "[" + strings.TrimSuffix(strings.Repeat("5e-324,", 3000), ",") + "]", "[" + strings.TrimSuffix(strings.Repeat("-1,", 3000), ",") + "]"} {
			formatted, _ := FormatMessage(template, []byte(params))
			assert.LessOrEqual(t, len(formatted), min(maxFormatted, 4*(len(template)+len(params))+1024), "%.10s %.10s", template, params)
		}
	}
}

func FuzzFormatMessage(f *testing.F) {
	for _, c := range messageCases {
		f.Add(c.template, []byte(c.params))
	}
	f.Fuzz(func(t *testing.T, template string, params []byte) {
		formatted, ok := FormatMessage(template, params)
		require.LessOrEqual(t, len(formatted), min(maxFormatted, 4*(len(template)+len(params))+1024))
		if !ok {
			require.Empty(t, formatted)
		}
		if utf8.ValidString(template) {
			require.True(t, utf8.ValidString(formatted))
		}
	})
}
