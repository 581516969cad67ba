// SPDX-License-Identifier: Apache-2.0

// Package messages is the only place where tests assert the wording of messages for mistakes in a
// configuration: testdata/messages.txt, a table of mistakes with the message of each. A component's
// own tests assert that it detects the mistake, and the key.
//
// An entry is the component, its configuration, and what the collector says about it:
//
//	receivers/sentry
//	  profile_type: off
//	> receivers::sentry: profile_type: is "off", must be "wall" or "cpu"
//
// The message is that of the first step that fails: decoding of the configuration, validation, or
// start without other components. The collector's words before it are the same for all mistakes
// of a step, and not in the table. IN_USE in a configuration is an address on which another process
// listens.
//
// To add an entry, write the component and the configuration, and run
//
//	go test ./internal/testkit/messages -update
package messages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// Entry is a mistake and its message.
type Entry struct {
	Kind, ID string // of the component, e.g. "receivers" and "sentry"
	Keys     string // the component's configuration in YAML, each line indented
	Message  string
}

// YAML returns the configuration as part of that of the collector.
func (e Entry) YAML() string { return e.Kind + ":\n " + e.ID + ":\n" + e.Keys }

// block is a part of the table between empty lines: a comment or an entry.
type block struct {
	comment string
	Entry
}

// Read returns the entries of the table.
func Read(t testing.TB) (entries []Entry) {
	t.Helper()
	for _, b := range read(t) {
		if b.comment == "" {
			entries = append(entries, b.Entry)
		}
	}
	return entries
}

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
			continue
		}
		lines := strings.Split(part, "\n")
		kind, id, ok := strings.Cut(lines[0], "/")
		require.True(t, ok, "%q is not a component, e.g. receivers/sentry", lines[0])
		keys := len(lines)
		if first := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, ">") }); first >= 0 {
			keys = first
		}
		e := Entry{Kind: kind, ID: id}
		for _, line := range lines[1:keys] {
			require.True(t, strings.HasPrefix(line, "  "), "%q: lines of a configuration are indented", line)
			e.Keys += line + "\n"
		}
		for i, line := range lines[keys:] {
			require.True(t, strings.HasPrefix(line, ">"), "%q: lines of a message start with >", line)
			if i > 0 {
				e.Message += "\n"
			}
			e.Message += strings.TrimPrefix(line[1:], " ")
		}
		blocks = append(blocks, block{Entry: e})
	}
	return blocks
}

func write(t testing.TB, blocks []block) {
	t.Helper()
	var parts []string
	for _, b := range blocks {
		if b.comment != "" {
			parts = append(parts, b.comment)
			continue
		}
		part := b.Kind + "/" + b.ID + "\n" + b.Keys
		for line := range strings.SplitSeq(b.Message, "\n") {
			part += strings.TrimRight("> "+line, " ") + "\n"
		}
		parts = append(parts, strings.TrimSuffix(part, "\n"))
	}
	require.NoError(t, os.WriteFile(path(t), []byte(strings.Join(parts, "\n\n")+"\n"), 0o600))
}
