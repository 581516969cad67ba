// SPDX-License-Identifier: Apache-2.0

// Package messages is the only place where tests assert the wording of messages about mistakes of
// users: testdata/messages.txt, a table of mistakes with the message of each. Other tests assert
// that the code detects the mistake, the key, and values and numbers.
//
// An entry is the component, its configuration in YAML, and the message, which the collector prints
// as it is here:
//
//	receivers/sentry
//	  profile_type: off
//	> receivers::sentry: profile_type: is "off", must be "wall" or "cpu"
//
// It is the error of the first step that fails: decoding, validation, or the start without other
// components. Before an error of decoding, the collector also prints that it cannot unmarshal the
// configuration; before one of the start, the name of the component. In a configuration, IN_USE is
// an address on which another process listens. "receivers/sentry, 2 pipelines" starts the component
// for two pipelines of profiles. After "collector/configuration" is a whole configuration, and the
// error of the converter config_check.
//
// An entry of the tool is a command line without the name of the tool, after "envelope ", and the
// output of errors. A test of the tool runs them.
//
// To add an entry, write all but the message, and run "make golden".
package messages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// Entry is a mistake and its message.
type Entry struct {
	Kind, Type   string // of the component, e.g. "receivers" and "sentry"; "envelope" and the command line
	TwoPipelines bool
	Keys         string // the component's configuration, each line indented by two spaces
	Message      string
}

// YAML returns the configuration as a part of the collector's.
func (e Entry) YAML() string {
	if e.Kind == Whole {
		return e.Keys
	}
	return e.Kind + ":\n " + e.Type + ":\n" + e.Keys
}

// block is a part of the table between empty lines: a comment or an entry.
type block struct {
	comment string
	Entry
}

// Kinds of entries that are not of a component.
const (
	Tool  = "envelope"
	Whole = "collector" // a whole configuration, and the error of the converter
)

// Components returns the entries of components.
func Components(t testing.TB) (entries []Entry) {
	t.Helper()
	for _, b := range read(t) {
		if b.comment == "" && b.Kind != Tool {
			entries = append(entries, b.Entry)
		}
	}
	return entries
}

// Check compares the messages of the tool's entries, or of those of components, with what say
// returns. With the flag -update, it writes them.
func Check(t *testing.T, tool bool, say func(Entry) string) {
	t.Helper()
	blocks := read(t)
	seen := map[string]bool{}
	for i, b := range blocks {
		if b.comment != "" || (b.Kind == Tool) != tool {
			continue
		}
		got := say(b.Entry)
		assert.NotEmpty(t, got, "no mistake:\n%s", b)
		assert.False(t, seen[b.YAML()], "twice in the table:\n%s", b)
		seen[b.YAML()] = true
		if golden.Updating() {
			blocks[i].Message = got
		} else if got != b.Message {
			assert.Equal(t, b.Message, got, b.YAML())
		}
	}
	require.NotEmpty(t, seen)
	if golden.Updating() {
		write(t, blocks)
	}
}

const twoPipelines = ", 2 pipelines"

func path(t testing.TB) string {
	return filepath.Join(golden.Root(t), "internal", "testkit", "messages", "testdata", "messages.txt")
}

func read(t testing.TB) (blocks []block) {
	t.Helper()
	text, err := os.ReadFile(path(t))
	require.NoError(t, err)
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		if strings.HasPrefix(part, "#") {
			blocks = append(blocks, block{comment: part})
		} else {
			blocks = append(blocks, block{Entry: parse(t, strings.Split(part, "\n"))})
		}
	}
	return blocks
}

func parse(t testing.TB, lines []string) (e Entry) {
	t.Helper()
	name, two := strings.CutSuffix(lines[0], twoPipelines)
	e.TwoPipelines = two
	var ok bool
	if e.Kind, e.Type, ok = strings.Cut(name, " "); !ok {
		e.Kind, e.Type, ok = strings.Cut(name, "/")
	}
	require.True(t, ok, "%q is neither a component, e.g. receivers/sentry, nor a command of envelope", lines[0])
	lines = lines[1:]
	message := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, ">") })
	if message < 0 {
		message = len(lines)
	}
	for _, line := range lines[:message] {
		require.True(t, strings.HasPrefix(line, "  "), "%q: lines of a configuration begin with two spaces", line)
		e.Keys += line + "\n"
	}
	var said []string
	for _, line := range lines[message:] {
		require.True(t, strings.HasPrefix(line, ">"), "%q: lines of a message begin with >", line)
		said = append(said, strings.TrimPrefix(line[1:], " "))
	}
	e.Message = strings.Join(said, "\n")
	return e
}

func (e Entry) String() string {
	separator := "/"
	if e.Kind == Tool {
		separator = " "
	}
	text := e.Kind + separator + e.Type
	if e.TwoPipelines {
		text += twoPipelines
	}
	text += "\n" + e.Keys
	for line := range strings.SplitSeq(e.Message, "\n") {
		text += strings.TrimSuffix("> "+line, " ") + "\n"
	}
	return text
}

func write(t testing.TB, blocks []block) {
	t.Helper()
	var parts []string
	for _, b := range blocks {
		if b.comment != "" {
			parts = append(parts, b.comment+"\n")
		} else {
			parts = append(parts, b.String())
		}
	}
	require.NoError(t, os.WriteFile(path(t), []byte(strings.Join(parts, "\n")), 0o600))
}
