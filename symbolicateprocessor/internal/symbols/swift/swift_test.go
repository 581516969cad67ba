// SPDX-License-Identifier: Apache-2.0

package swift

import (
	"bufio"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reference is a symbol with its names by Sentry's library, the crate symbolic-demangle 13.9.0 with
// the feature swift: the options name_only(), and name_only().parameters(true). The package
// symbolic 13.9.0 of PyPI has no demangler.
type reference struct{ symbol, name, withTypes string }

func references(t testing.TB, path string) (references []reference) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		require.Len(t, fields, 3, lines.Text())
		references = append(references, reference{fields[0], fields[1], fields[2]})
	}
	return references
}

// TestReference compares all names with Sentry's library. SWIFT_SYMBOLS is another list, for
// example of all functions of a program.
func TestReference(t *testing.T) {
	path := os.Getenv("SWIFT_SYMBOLS")
	complete := path == ""
	if complete {
		path = "testdata/symbols.tsv"
	}
	var equal, unsupported, different int
	for _, r := range references(t, path) {
		name, ok := Demangle(r.symbol)
		switch {
		case !ok:
			assert.Equal(t, r.symbol, name)
			assert.False(t, complete, "unsupported: %s %s", r.symbol, r.name)
			unsupported++
			if testing.Verbose() {
				t.Logf("unsupported: %s %s", r.symbol, r.name)
			}
		case withoutLabels(name) == shortened(r.name) && name == withLabels(r):
			equal++
		default:
			different++
			if different <= 200 {
				t.Errorf("%s:\n got %s\nwant %s\n     %s\n     %s", r.symbol, name, withLabels(r), r.name, r.withTypes)
			}
		}
	}
	t.Logf("%d equal, %d unsupported, %d different", equal, unsupported, different)
	assert.NotZero(t, equal)
}

var (
	labels    = regexp.MustCompile(`([^\s<\[(,]|#\d+ )\((?:[^():, ]+:)*\)`)
	operators = regexp.MustCompile(` (infix|prefix|postfix)(<.*>)?$`)
	types     = regexp.MustCompile(`(^|[<\[]|, | (for|of|in|type|conformance|:|,) )$`)
	closures  = regexp.MustCompile(`closure #\d+ `)
	thunks    = regexp.MustCompile(`^((?:partial apply for )?(?:specialized )?thunk) for .*`)
)

// shortened removes what names omit: the types of a thunk, and the preposition before a module in
// "closure #1 in ".
func shortened(name string) string {
	return strings.TrimSuffix(thunks.ReplaceAllString(name, "$1"), " in ")
}

func withoutLabels(name string) string {
	return labels.ReplaceAllString(name, "$1")
}

// withLabels replaces the lists of types by lists of labels.
func withLabels(r reference) string {
	text := shortened(r.withTypes)
	var b strings.Builder
	for text != "" {
		open := strings.IndexByte(text, '(')
		if open < 0 {
			break
		}
		closing := balanced(text[open:]) + open
		before := text[:open]
		list := text[open+1 : closing]
		text = text[closing+1:]
		if at := closures.FindAllStringIndex(before, -1); at != nil && !strings.Contains(before[at[len(at)-1][1]:], "in ") {
			b.WriteString(before[:at[len(at)-1][1]-1]) // and without attributes, for example @Sendable
			continue
		}
		switch {
		case operators.MatchString(before):
			b.WriteString(before)
		case types.MatchString(before):
			b.WriteString(before + "(" + list + ")")
		default:
			b.WriteString(before + "(" + labelsOf(list) + ")")
		}
	}
	b.WriteString(text)
	return b.String()
}

func balanced(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '<':
			depth++
		case ')', ']':
			depth--
		case '>':
			if i == 0 || text[i-1] != '-' {
				depth--
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(text) - 1
}

var label = regexp.MustCompile(`^[\pL_][\pL\pN_]*:$`)

func labelsOf(types string) string {
	if types == "" {
		return ""
	}
	var b strings.Builder
	depth, start := 0, 0
	for i := 0; i <= len(types); i++ {
		if i == len(types) || types[i] == ',' && depth == 0 {
			word, _, _ := strings.Cut(strings.TrimSpace(types[start:i]), " ")
			if !label.MatchString(word) {
				word = "_:"
			}
			b.WriteString(word)
			start = i + 1
			continue
		}
		switch types[i] {
		case '(', '[', '<':
			depth++
		case ')', ']':
			depth--
		case '>':
			if types[i-1] != '-' {
				depth--
			}
		}
	}
	return b.String()
}

func TestUnsupported(t *testing.T) {
	for _, symbol := range []string{
		"", "main", "$s", "_T0", "_ZN4Cart5clearEv", "_TFC3foo3bar3basfT3zimCS_3zim_T_", // another mangling
		"$sSi", "$s4main3FooCMn", "$s4main3FooCN", // not a function
		"$s4main3foo", "$s4main3fooy", "$s4main9fooyyF", "$s4main3fooyyFF", "$s4main3fooAZyF", "$sA8", "$s0059xyF", "$s08mangling3fooyyF", // damaged
		"$s4main3fooyyF_", "$s4main3fooyyF4main3baryyF", // more than a function
		"$s13test_mangling3fooyS2f_S2ftFTJfUSSpSr", "$sTB", "_T0lxxxmmmTk", "$syQo",
		"$s" + strings.Repeat("4main", maxLength),
	} {
		name, ok := Demangle(symbol)
		assert.False(t, ok, "%s %s", symbol, name)
		assert.Equal(t, symbol, name)
	}
}

// TestPrefixes checks the prefixes of compilers and object files.
func TestPrefixes(t *testing.T) {
	for _, prefix := range []string{"$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0"} {
		name, _ := Demangle(prefix + "4main3fooyyF.resume.0")
		assert.Equal(t, "foo()", name, prefix)
	}
}

// TestBombs checks that back references cannot make long names.
func TestBombs(t *testing.T) {
	for _, symbol := range []string{
		"$s4main1AVA" + strings.Repeat("9999a", 500) + "B",
		"$sS9999i" + "WOy",
		"$s4main1AV" + strings.Repeat("AC_ACt", 500) + "WOy",
		"$s1a1bV" + strings.Repeat("yABG", 1000) + "WOy",
		"$sSi" + strings.Repeat("Sg", 2000) + "WOy",
		"$sSi" + doubled(30) + "WOy",
		"$sr4000_4000_4000_l",
	} {
		name, ok := Demangle(symbol)
		assert.LessOrEqual(t, len(name), maxLength)
		assert.Equal(t, ok, name != symbol)
	}
	_, ok := Demangle("$sSi" + doubled(3) + "WOy")
	assert.True(t, ok)
	_, ok = Demangle("$sSi" + doubled(30) + "WOy")
	assert.False(t, ok)
}

// TestSharedText checks that lists of a long text that back references repeat are rejected before
// they are concatenated.
func TestSharedText(t *testing.T) {
	long := "4main3000" + strings.Repeat("a", 3000)
	for name, symbol := range map[string]string{
		"arguments": "$s" + long + "CyA999CGWOy",
		"protocols": "$s" + long + "P_A999CpWOy",
		"key path":  "$s4main3fooyyF" + long + "CA999ETK",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, ok := Demangle(symbol)
		runtime.ReadMemStats(&after)
		assert.False(t, ok, name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), name)
	}
}

// doubled makes n types, each of which has the one before twice: optional types are substitutions.
func doubled(n int) string {
	var b strings.Builder
	b.WriteString("Sg")
	for i := range n {
		b.WriteString("_A" + string([]byte{byte('A' + i%26)}) + "tSg")
	}
	return b.String()
}

// FuzzDemangle checks the promises about the result of any symbol.
func FuzzDemangle(f *testing.F) {
	for _, r := range references(f, "testdata/symbols.tsv") {
		f.Add(r.symbol)
	}
	f.Fuzz(func(t *testing.T, symbol string) {
		name, ok := Demangle(symbol)
		again, sameOK := Demangle(symbol)
		if ok != sameOK || name != again {
			t.Fatalf("%q: %q, then %q", symbol, name, again)
		}
		if !ok && name != symbol || ok && (name == "" || len(name) > maxLength) {
			t.Fatalf("%q: %q, %t", symbol, name, ok)
		}
		if rest, found := strings.CutPrefix(symbol, "$s"); found && len(symbol) < maxLength {
			if other, otherOK := Demangle("_$s" + rest); otherOK != ok || ok && other != name {
				t.Fatalf("%q: %q, with an underscore %q", symbol, name, other)
			}
		}
	})
}

func BenchmarkDemangle(b *testing.B) {
	references := references(b, "testdata/symbols.tsv")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Demangle(references[i%len(references)].symbol)
	}
}
