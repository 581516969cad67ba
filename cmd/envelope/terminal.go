// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// isTerminal reports whether a file is a terminal. The null device is the only other common file of
// this kind.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// displaysColors reports whether terminals display colors.
func displaysColors() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// color is a code of ECMA-48.
type color string

const (
	bold   color = "1"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
)

// paint returns text in a color, if the output displays colors.
func (e environment) paint(c color, text string) string {
	if !e.terminal || !displaysColors() {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// maxText is the maximum length of text from the input in a line of output.
const maxText = 200

// printable returns text from the input in a form that is safe for terminals: on one line, without
// invisible characters, and clipped.
func printable(text string) string {
	clipped := text
	if len(clipped) > maxText {
		clipped = clipped[:maxText] + "…"
	}
	return onLine(clipped)
}

// onLine returns text on one line, without invisible characters.
func onLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r) || timeline.Invisible(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// document returns the output for a file in a text format, whose names may contain sequences that
// change a terminal. Terminals get escapes instead; files get the exact text.
func (e environment) document() io.Writer {
	if e.terminal {
		return terminalWriter{e.out}
	}
	return e.out
}

// terminalWriter writes escapes instead of invisible characters. No character extends over two
// calls.
type terminalWriter struct{ to io.Writer }

func (w terminalWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, timeline.Visible(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// bytesText formats a size for people.
func bytesText(n int) string {
	const units = "kMG"
	value, unit := float64(n), -1
	for value >= 1000 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit < 0 {
		return strconv.Itoa(n) + " B"
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + " " + units[unit:unit+1] + "B"
}

// count formats a number with its noun.
func count[N int | int64](n N, noun string) string {
	return strconv.FormatInt(int64(n), 10) + " " + plural(noun, int64(n))
}

func plural[N int | int64](noun string, n N) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
