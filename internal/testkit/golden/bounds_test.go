// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// promise is an entry of testdata/bounds.txt: a phrase of a document that promises a bound, and the
// tests that attack it; or, without tests, a phrase that only looks like a promise.
type promise struct {
	document, phrase string
	attacks          []string // "package Test: figure"
	excuse           string
}

var (
	// promising matches sentences that promise a bound on memory, size, time, work, number or rate.
	promising = regexp.MustCompile(`(?i)at most|never exceed|limited to|no more than|maximum (size|number|total|memory|time|OTLP|body|attempts)|` +
		`times (the|its) size|times the batch|times as large|\bup to \S|\bone \S+ at a time|truncates |(half|fifths|ninths|quarter) of |` +
		`the limit is [0-9]|uses? up to|exceeds [0-9]|receives [0-9]+ if|keeps the last`)
	// unpromising matches documents with measurements, and those of others.
	unpromising = regexp.MustCompile(`testdata/|assets/|^(CHANGELOG|CONTRIBUTING|\.github/|examples/|packaging/)|` +
		`^docs/(attacks|compatibility|faults|load|performance)\.md$`)
	attackLine = regexp.MustCompile(`^(\S+) (Test\w+)(/[^:]+)?: \S`)
)

// TestBounds: each sentence of the documentation that promises a bound has an entry in
// testdata/bounds.txt, with the test that comes closest to breaking it, and the figure.
func TestBounds(t *testing.T) {
	promises := readPromises(t)
	list := exec.Command("git", "ls-files", "*.md")
	list.Dir = Root(t)
	files, err := list.Output()
	require.NoError(t, err)
	text := map[string]string{}
	for _, document := range strings.Fields(string(files)) {
		if unpromising.MatchString(document) {
			continue
		}
		page, err := os.ReadFile(filepath.Join(Root(t), document))
		require.NoError(t, err)
		all := sentences(string(page))
		text[document] = strings.Join(all, "\n")
		for _, sentence := range all {
			found := false
			for _, p := range promises {
				found = found || p.document == document && strings.Contains(sentence, p.phrase)
			}
			assert.True(t, found || !promising.MatchString(sentence), "testdata/bounds.txt has no entry for this sentence of %s:\n%s", document, sentence)
		}
	}
	for _, p := range promises {
		assert.True(t, strings.Contains(text[p.document], p.phrase), "testdata/bounds.txt: %q is not in %s", p.phrase, p.document)
		assert.NotEqual(t, p.attacks == nil, p.excuse == "", "testdata/bounds.txt: %q needs tests or a reason", p.phrase)
		for _, attack := range p.attacks {
			assert.Empty(t, missingTest(t, attack), "testdata/bounds.txt: %s", p.phrase)
		}
	}
}

// missingTest returns the problem with a line "package Test/part: figure", if there is one.
func missingTest(t *testing.T, attack string) string {
	match := attackLine.FindStringSubmatch(attack)
	if match == nil {
		return "not package, test and figure: " + attack
	}
	code, err := filepath.Glob(filepath.Join(Root(t), match[1], "*_test.go"))
	require.NoError(t, err)
	var tests strings.Builder
	for _, file := range code {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tests.Write(text)
	}
	if !strings.Contains(tests.String(), "func "+match[2]+"(t *testing.T)") || !strings.Contains(tests.String(), strings.TrimPrefix(match[3], "/")) {
		return "no such test: " + attack
	}
	return ""
}

// sentences returns the sentences, rows of tables and headings of a page. A row of a table of
// limits starts with "at most".
func sentences(page string) (all []string) {
	var block, header string
	code := false
	end := func() {
		for {
			cut := sentenceEnd.FindStringIndex(block)
			if cut == nil || strings.HasPrefix(block, "|") {
				break
			}
			all = append(all, strings.TrimSpace(block[:cut[0]+1]))
			block = block[cut[1]-1:]
		}
		all = append(all, block)
		block = ""
	}
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			code = !code
		case code:
		case line == "" || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "#"):
			end()
			header, block = "", line
		case strings.HasPrefix(line, "|"):
			end()
			block = line
			if header == "" {
				header = line
			} else if strings.HasSuffix(header, "| Limit |") && !strings.HasPrefix(line, "|--") {
				block += " at most"
			}
		default:
			block = strings.TrimSpace(block + " " + line)
		}
	}
	end()
	return all
}

var sentenceEnd = regexp.MustCompile("[.!?] [A-Z`*\\[]")

func readPromises(t *testing.T) (all []promise) {
	table, err := os.ReadFile("testdata/bounds.txt")
	require.NoError(t, err)
	var document string
	for line := range strings.Lines(string(table)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  > "):
			p := &all[len(all)-1]
			p.attacks = append(p.attacks, line[4:])
		case strings.HasPrefix(line, "  - "):
			all[len(all)-1].excuse = line[4:]
		case strings.HasPrefix(line, "  "):
			all = append(all, promise{document: document, phrase: line[2:]})
		default:
			document = line
		}
	}
	return all
}
