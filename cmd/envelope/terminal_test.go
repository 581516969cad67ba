// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/planted"
)

// escapes changes a terminal: its title, its clipboard, colors, the line, the text direction, and
// with characters that are not seen.
const escapes = "\x1b]0;owned\x07\x1b]52;c;eA==\x07\x1b[2J\x1b[31mred\u009b31m\r\b\x7f\u202e\u200b\ufe01\U000e0041\U000e0101"

// ours are the sequences that the tool writes to terminals.
var ours = regexp.MustCompile("\x1b\\[(?:[0-9]+m|K)|\r")

// TestTerminal runs every command on a terminal with escapes in every text of every kind of item,
// in names of files and in arguments: the output contains none of them.
func TestTerminal(t *testing.T) {
	folder := t.TempDir()
	var files []string
	for _, c := range golden.SampleCases(t) {
		if c.Envelope == nil {
			continue
		}
		files = append(files, write(t, folder, "in"+escapes+fmt.Sprint(len(files)), string(withEscapes(c.Envelope))))
	}
	files = append(files, write(t, folder, "no"+escapes, escapes), filepath.Join(folder, "missing"+escapes))
	b := startBackend(t)
	commands := [][]string{
		{"explain"}, {"explain", "--linked"}, {"lint"}, {"lint", "--format", "json"}, {"lint", "--format", "sarif"}, {"check"}, {"check", "--format", "json"},
		{"scrub"}, {"send", "--dsn", b.dsn()}, {"convert", "--to", "pprof"}, {"convert" + escapes}, {"explain", "--" + escapes}, {"explain", "--linked=" + escapes},
		{"convert", "--to", escapes}, {"convert", "--to", "collapsed", "--type", escapes}, {"convert", "--to", "otlp-proto", "--dialect", escapes}, {"lint", "--format", escapes},
	}
	for _, format := range []string{"sentry", "otlp-json", "speedscope", "collapsed", "firefox"} {
		commands = append(commands, []string{"convert", "--to", format}, []string{"convert", "--out", "-", "--to", format})
	}
	printed := 0
	for _, command := range commands {
		for _, file := range files {
			var out, problems bytes.Buffer
			run(append(append([]string{}, command...), file), environment{in: strings.NewReader(""), out: &out, err: &problems, terminal: true, progress: true})
			for _, text := range []string{out.String(), problems.String()} {
				text = ours.ReplaceAllString(text, "")
				printed += len(text)
				at := strings.IndexFunc(text, func(r rune) bool { return timeline.Invisible(r) || unicode.IsControl(r) && r != '\n' && r != '\t' })
				require.Negative(t, at, "%q of %q: %.300q", command, file, text[max(0, at-50):])
			}
			assert.NotContains(t, out.String()+problems.String(), "\x1b[31mred", "%q", command)
		}
	}
	assert.Greater(t, printed, 100_000)
}

// withEscapes returns an envelope with escapes behind each text of its items, and in its header.
func withEscapes(body []byte) []byte {
	parsed, err := sentry.ReadEnvelope(body)
	if err != nil {
		return body
	}
	out := []string{`{"sdk":{"name":` + quoted(escapes) + `,"version":"1"},"trace":{"trace_id":` + quoted(escapes) + `},"event_id":` + quoted(escapes) + `}`}
	for _, item := range parsed.Items {
		payload := item.Payload
		var document any
		if json.Unmarshal(payload, &document) == nil {
			payload, _ = json.Marshal(escaped(document, ""))
		}
		header, _ := json.Marshal(map[string]any{"type": item.Header.Type, "length": len(payload), "platform": item.Header.Platform, "filename": escapes})
		out = append(out, string(header), string(payload))
	}
	out = append(out, `{"type":`+quoted(escapes)+`,"length":2}`, "{}")
	return []byte(strings.Join(out, "\n") + "\n")
}

func quoted(text string) string {
	encoded, _ := json.Marshal(text)
	return string(encoded)
}

var structural = regexp.MustCompile(`(?i)id$|time|version|platform|status|type|addr|^level$`)

func escaped(value any, key string) any {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			value[key] = escaped(member, key)
		}
	case []any:
		for i := range value {
			value[i] = escaped(value[i], key)
		}
	case string:
		if !structural.MatchString(key) {
			return value + escapes
		}
	}
	return value
}

// TestFilesKeepNames: redirected output has the exact names.
func TestFilesKeepNames(t *testing.T) {
	path := write(t, t.TempDir(), "in.collapsed", "main;f\x1b[31m 1\n")
	out, _, exit := call(t, "", "convert", "--from", "collapsed", "--to", "collapsed", path)
	assert.Equal(t, exitOK, exit)
	assert.Contains(t, out, "f\x1b[31m")
}

// TestExplainScrubs: what explain prints of an item of any kind contains no secret.
func TestExplainScrubs(t *testing.T) {
	secrets := 0
	for _, c := range golden.SampleCases(t) {
		for turn := range 1 + planted.Classes/2 {
			p := &planted.Planter{Secrets: map[string]string{}, Member: turn == 0, Turn: 2 * turn}
			body := p.Envelope(c.Envelope)
			if body == nil {
				continue
			}
			secrets += len(p.Secrets)
			path := filepath.Join(t.TempDir(), "in.envelope")
			require.NoError(t, os.WriteFile(path, body, 0o600))
			for _, command := range []string{"explain", "lint"} {
				out, problems, _ := call(t, "", command, path)
				for leak, place := range p.Leaks(strings.Split(out+problems, "\n")) {
					t.Errorf("%s of %s: a secret at %s: %s", command, c.Name, place, leak)
				}
			}
		}
	}
	assert.Greater(t, secrets, 1000)
}
