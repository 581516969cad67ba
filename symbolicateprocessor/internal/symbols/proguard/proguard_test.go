// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

func shop(t *testing.T) *Mapping {
	t.Helper()
	text, err := os.ReadFile("testdata/shop.txt")
	require.NoError(t, err)
	m, err := read(strings.NewReader(string(text)))
	require.NoError(t, err)
	require.Zero(t, m.Unreadable)
	return m
}

var placeText = regexp.MustCompile(`^(.*)\.([^.(:]+)(\([^:]*)?(?::(-?\d+))?$`)

// place reads class.method[descriptor][:line].
func place(m *Mapping, text string) (p Place) {
	parts := placeText.FindStringSubmatch(text)
	p.Class, p.Method, p.Signature = parts[1], parts[2], m.Signature(parts[3])
	p.Line, _ = strconv.ParseInt(parts[4], 10, 64)
	return p
}

// written returns frames as a stack trace has them.
func written(frames []symbols.Frame) string {
	lines := make([]string, len(frames))
	for i, f := range frames {
		lines[i] = fmt.Sprintf("%s(%s:%d)", f.Function, f.File, f.Line)
	}
	return strings.Join(lines, " < ")
}

func TestLookup(t *testing.T) {
	m := shop(t)
	const price, total = "com.example.shop.Item.price(Items.kt:", "com.example.shop.Cart.total(Cart.kt:"
	for at, want := range map[string]string{
		"a.b.a:1": total + "17)",
		"a.b.a:4": total + "20)",
		"a.b.a:5": price + "9) < " + total + "22)",
		"a.b.a:6": "com.example.shop.Item.tax(Items.kt:30) < " + price + "10) < " + total + "22)",
		// A line outside of all ranges can only belong to the function without lines.
		"a.b.a:99": "com.example.shop.Cart.clear(Cart.kt:99)",
		"a.b.a":    "com.example.shop.Cart.clear(Cart.kt:0)",
		// ART reports signatures, no lines: the chains of total have only total in common.
		"a.b.a(Ljava/util/List;)I": total + "0)",
		"a.b.a()V":                 "com.example.shop.Cart.clear(Cart.kt:0)",
		// Overloads that are both named add.
		"a.b.b:2":          "com.example.shop.Cart.add(Cart.kt:41)",
		"a.b.b:4":          "com.example.shop.Cart.add(Cart.kt:50)",
		"a.b.b":            "com.example.shop.Cart.add(Cart.kt:0)",
		"a.b.b(La/c;I)V":   "com.example.shop.Cart.add(Cart.kt:0)",
		"a.b.b(La/zzz;I)V": "com.example.shop.Cart.add(Cart.kt:0)",
		"a.b.c:7":          "com.example.shop.Cart.remove(Cart.kt:7)",
		// Overloads with different names.
		"a.b.d":                           "ambiguous com.example.shop.Cart.d(Cart.kt:0)",
		"a.b.d(La/c;)V":                   "com.example.shop.Cart.empty(Cart.kt:0)",
		"a.b.d([[ILjava/lang/String;)V":   "com.example.shop.Cart.fill(Cart.kt:0)",
		"a.b.d(La/c;":                     "ambiguous com.example.shop.Cart.d(Cart.kt:0)",
		"a.b.h":                           "ambiguous com.example.shop.Cart.h(Cart.kt:0)",
		"a.b.h:2":                         "com.example.shop.Cart.second(Cart.kt:95)",
		"a.b.k(La/c;)V":                   "com.example.shop.Cart.described(Cart.kt:0)",
		"a.b.e":                           "com.example.shop.Cart.isEmpty(Cart.kt:60)",
		"a.b.e:7":                         "com.example.shop.Cart.isEmpty(Cart.kt:60)",
		"a.b.<init>:1":                    "com.example.shop.Cart.<init>(Cart.kt:12)",
		"a.b.f:3":                         "com.example.shop.Legacy.moved(Legacy.kt:70)",
		"a.b.g:8":                         "com.example.shop.Cart.widened(Cart.kt:0)",
		"a.b.j:2":                         "com.example.shop.Cart.kept(Cart.kt:2)",
		"a.b.l":                           "com.example.shop.Cart.zero(Cart.kt:110)",
		"a.b.l:1":                         "com.example.shop.Cart.nonzero(Cart.kt:111)",
		"a.b.l:-2":                        "com.example.shop.Cart.zero(Cart.kt:110)",
		"a.b.toString:3":                  "com.example.shop.Cart.toString(Cart.kt:3)",
		"a.d$a.run:1":                     "com.example.shop.Legacy$Inner$1.run(Legacy.java:5)",
		"a.e.a:1":                         "com.example.shop.PricesKt.round(Prices.kt:5)",
		"a.f.a:1":                         "com.example.shop.Cart.lambda$total$0(Cart.kt:33)",
		"a.f.a:2":                         "com.example.shop.Cart.show(Cart.kt:35)",
		"java.lang.Thread.run:1012":       "no_symbol ",
		"a.b.a(Ljava/util/List;)V:5":      price + "9) < " + total + "22)", // the result alone does not tell overloads apart
		"a.b.b(Lcom/example/shop/Item;)V": "com.example.shop.Cart.add(Cart.kt:0)",
	} {
		frames, status := m.Lookup(nil, place(m, at))
		got := written(frames)
		if status != symbols.OK {
			got = string(status) + " " + got
		}
		assert.Equal(t, want, got, at)
	}
}

// TestOtherForms: mappings of older compilers and of other tools.
func TestOtherForms(t *testing.T) {
	for name, c := range map[string]struct{ mapping, place, want string }{
		"tab":               {"a.B -> a:\n\t1:1:void run():5:5 -> r\n", "a.r:1", "a.B.run(B.java:5)"},
		"one space":         {"a.B -> a:\n 1:1:void run():5:5 -> r\n", "a.r:1", "a.B.run(B.java:5)"},
		"CRLF":              {"a.B -> a:\r\n    1:1:void run():5:5 -> r\r\n", "a.r:1", "a.B.run(B.java:5)"},
		"no last line feed": {"a.B -> a:\n    1:1:void run():5:5 -> r", "a.r:1", "a.B.run(B.java:5)"},
		"inverted ranges":   {"a.B -> a:\n    5:3:void run():102:100 -> r", "a.r:4", "a.B.run(B.java:101)"},
		"one line":          {"a.B -> a:\n    5:void run():102 -> r", "a.r:5", "a.B.run(B.java:102)"},
		"class twice":       {"a.B -> a:\n    void run() -> r\na.C -> a:\n    void go() -> r", "a.r", "a.C.go(C.java:0)"},
		"synthesized once":  {"a.B -> a:\n    1:1:void b():5:5 -> r\n    1:1:void c():0 -> r\n    # {\"id\":\"com.android.tools.r8.synthesized\"}\n    2:2:void b():6:6 -> r\n    2:2:void c():0 -> r", "a.r:2", "a.B.b(B.java:6)"},
		"signature once":    {"a.B -> a:\n    1:1:void b(a.C):5:5 -> r\n    # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"()V\"}\n    2:2:void b(a.C):6:6 -> r\n    2:3:void c():7:8 -> r", "a.r()V:2", "a.B.b(B.java:6)"},
		"other alphabet":    {"ä.Ö -> ａ:\n    void läuft() -> ｒ", "ａ.ｒ", "ä.Ö.läuft(Ö.java:0)"},
	} {
		m, err := read(strings.NewReader(c.mapping))
		require.NoError(t, err, name)
		frames, _ := m.Lookup(nil, place(m, c.place))
		assert.Equal(t, c.want, written(frames), name)
	}
}

func TestClass(t *testing.T) {
	m := shop(t)
	for obfuscated, want := range map[string]string{"a.i": "java.lang.IllegalStateException", "a.d$a": "com.example.shop.Legacy$Inner$1", "a": "", "zz": "", "": ""} {
		got, ok := m.Class(obfuscated)
		assert.Equal(t, want, got, obfuscated)
		assert.Equal(t, want != "", ok, obfuscated)
	}
}

func TestLookupStack(t *testing.T) {
	m := shop(t)
	const pay = "com.example.shop.Checkout.pay(Checkout.java:"
	for name, c := range map[string]struct {
		thrown string
		stack  string
		want   string
	}{
		"outline":                     {"", "a.g.a:1 a.h.a:27 a.b.a:1", " | " + pay + "20) | com.example.shop.Cart.total(Cart.kt:17)"},
		"outline of inlined code":     {"", "a.g.a:2 a.h.a:27", " | com.example.shop.Item.price(Items.kt:9) < " + pay + "21)"},
		"unknown line of the outline": {"", "a.g.a:9 a.h.a:27", " | " + pay + "0)"},
		"no call of an outline":       {"", "a.h.a:27", pay + "0)"},
		"added check":                 {"java.lang.NullPointerException", "a.h.b:1", "com.example.shop.Checkout.check(Checkout.java:30)"},
		"another exception":           {"a.i", "a.h.b:1", "java.util.Objects.requireNonNull(Objects.java:1) < com.example.shop.Checkout.check(Checkout.java:30)"},
		"not the first frame":         {"java.lang.NullPointerException", "a.b.a:1 a.h.b:1", "com.example.shop.Cart.total(Cart.kt:17) | java.util.Objects.requireNonNull(Objects.java:1) < com.example.shop.Checkout.check(Checkout.java:30)"},
		"no rule for the line":        {"java.lang.NullPointerException", "a.h.b:2", "com.example.shop.Checkout.check(Checkout.java:31)"},
	} {
		t.Run(name, func(t *testing.T) {
			var stack []Place
			for _, text := range strings.Fields(c.stack) {
				stack = append(stack, place(m, text))
			}
			var got []string
			m.LookupStack(c.thrown, stack, func(i int, frames []symbols.Frame, status symbols.Status) {
				require.Equal(t, len(got), i)
				assert.Equal(t, symbols.OK, status)
				got = append(got, written(frames))
			})
			assert.Equal(t, c.want, strings.Join(got, " | "))
		})
	}
}

func TestUnreadable(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "text": "hello\nworld\n", "members without a class": "    void a() -> b\n", "binary": "\x7fELF\x00\x01\n\x00",
	} {
		_, err := read(strings.NewReader(text))
		assert.ErrorIs(t, err, ErrNoClass, name)
	}
	const good = "a.B -> a:\n    1:1:void run():5:5 -> a\n"
	for name, c := range map[string]struct {
		line string
		want int
	}{
		"no arrow": {"    void run()", 1}, "no name": {"    void () -> a", 1}, "open parameters": {"    void run( -> a", 1}, "huge number": {"    1:99999999999:void run():1:1 -> b", 1},
		"text after the lines": {"    1:1:void run():5:5x -> b", 1}, "no JSON": {"    # {\"id\":", 1}, "header": {"# compiler: R8", 0}, "empty lines": {"\r\n\n  \t ", 0},
		"a class without a name": {" -> b:", 1}, "too long": {"    void run() -> " + strings.Repeat("x", maxLine), 1}, "too long, twice": {"    " + strings.Repeat("x", 3*maxLine), 1},
		"a class without a colon and its members": {"a.C -> c\n    void a() -> b", 2},
	} {
		for _, text := range []string{good + c.line, good + c.line + "\nc.C -> cc:\n"} {
			m, err := read(strings.NewReader(text))
			require.NoError(t, err, name)
			assert.Equal(t, c.want, m.Unreadable, name)
			frames, _ := m.Lookup(nil, Place{Class: "a", Method: "a", Line: 1})
			assert.Equal(t, "a.B.run(B.java:5)", written(frames), name)
		}
	}
}
