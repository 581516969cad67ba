// SPDX-License-Identifier: Apache-2.0

package collapsed

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Read reads a file. Blank lines and comments (#) are skipped. A text in which most lines have no
// weight is an error, because any line may end with a number.
//
// A file in which most lines end with two numbers is differential, as difffolded.pl writes it: the
// numbers are the weights before and after a change. Only the latter are read. In other files, the
// first number is part of a name, such as a thread name.
func Read(data []byte, o importer.Options) (pprofile.Profiles, []importer.Loss, error) {
	b := importer.NewBuilder(o)
	r := reader{Builder: b, frames: map[string]dictionary.LocationIndex{}}
	r.out = b.Profile(importer.Type{Shape: importer.Totals, Name: "samples", Unit: "count"})
	counts := countLines(data)
	for line := range bytes.Lines(data) {
		text := stackOf(line)
		stack, weight, ok := cut(text)
		if !ok {
			continue
		}
		if counts.differential > counts.weighted/2 {
			if before, _, two := cut(stack); two {
				stack = before
				b.Lose("weights in the first of two columns", 1)
			}
		}
		r.add(stack, weight)
	}
	b.Lose("lines without a stack and a weight", counts.others)
	message, losses, err := b.Finish()
	if counts.others > counts.weighted {
		err = fmt.Errorf("%d lines have a stack and a weight, %d have not", counts.weighted, counts.others)
	}
	return message, losses, err
}

// lineCounts are the numbers of lines of a file by kind.
type lineCounts struct{ weighted, differential, others int }

func countLines(data []byte) (c lineCounts) {
	for line := range bytes.Lines(data) {
		text := stackOf(line)
		if text == "" {
			continue
		}
		stack, _, ok := cut(text)
		if !ok {
			c.others++
			continue
		}
		c.weighted++
		if _, _, ok := cut(stack); ok {
			c.differential++
		}
	}
	return c
}

// stackOf returns a line without its end, "" for a comment. Ruby's #<Class> is not a comment.
func stackOf(line []byte) string {
	text := strings.TrimRight(string(line), " \t\r\n")
	if text == "#" || strings.HasPrefix(text, "# ") || strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// weights has the form of a weight. Some tools write times, with a fraction.
var weights = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$`)

// cut splits a line at its last blank. Frames may contain blanks.
func cut(line string) (stack string, weight float64, ok bool) {
	i := strings.LastIndexAny(line, " \t")
	if i < 0 || !weights.MatchString(line[i+1:]) {
		return "", 0, false
	}
	weight, err := strconv.ParseFloat(line[i+1:], 64)
	return line[:i], weight, err == nil
}

type reader struct {
	*importer.Builder
	out    *importer.Profile
	frames map[string]dictionary.LocationIndex
}

// add adds a stack. A frame without a name is an unknown function, as in speedscope. py-spy writes
// a stack without any name for threads outside of Python.
func (r *reader) add(stack string, weight float64) {
	node := importer.Node(0)
	for name := range strings.SplitSeq(stack, ";") {
		frame, known := r.frames[name]
		if !known {
			frame = r.Frame(importer.Frame{Name: name})
			r.frames[name] = frame
		}
		node = r.Call(node, frame)
	}
	r.out.Add(importer.Sample{Node: node, Value: r.out.Whole(weight)})
}
