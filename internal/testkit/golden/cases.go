// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Updating reports whether the test writes golden files, with the flag -update.
func Updating() bool { return *update }

// Case is a folder of testdata/cases: a request of an SDK and its result.
//
//	case.md       purpose and origin of the case
//	in.envelope   the body of the request, not compressed
//	outcome.txt   response and counters
//	profiles.txt  the OTLP profiles of the output; likewise traces.txt, logs.txt, metrics.txt; each only if it is not empty
//
// The last five are golden files. testdata/cases/README.md lists the cases by SDK, quirk and rule.
type Case struct {
	Name     string
	Envelope []byte // nil if there is no in.envelope: the test generates an envelope that is too large for a file

	dir string
}

// The golden files of the signals.
const (
	Profiles = "profiles.txt"
	Traces   = "traces.txt"
	Logs     = "logs.txt"
	Metrics  = "metrics.txt"
)

// Signals are the golden files of all signals.
var Signals = []string{Profiles, Traces, Logs, Metrics}

// Cases returns all cases, by name.
func Cases(t testing.TB) []Case {
	t.Helper()
	root := filepath.Join(Root(t), "testdata", "cases")
	folders, err := os.ReadDir(root)
	require.NoError(t, err)
	var cases []Case
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		c := Case{Name: folder.Name(), dir: filepath.Join(root, folder.Name())}
		c.Envelope, err = os.ReadFile(filepath.Join(c.dir, "in.envelope"))
		if !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		cases = append(cases, c)
	}
	require.NotEmpty(t, cases)
	return cases
}

// Files are the names of the files in the folder.
func (c Case) Files(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// Read returns the text of a file of the case, or "" if there is none.
func (c Case) Read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, file))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// Compare compares text with a golden file of the case; a missing file is empty. With the flag
// -update it writes or removes the file.
func (c Case) Compare(t testing.TB, file, text string) {
	t.Helper()
	if *update {
		c.write(t, file, text)
		return
	}
	require.Equal(t, c.Read(t, file), text, "%s of %s is not what came out; after a change that is meant, run make golden and review the diff", file, c.Name)
}

// CompareFile compares text with a golden file, whose path is relative to the package. With the
// flag -update it writes the file.
func CompareFile(t testing.TB, path, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), text, "%s is not what came out; after a change that is meant, run make golden and review the diff", path)
}

func (c Case) write(t testing.TB, file, text string) {
	path := filepath.Join(c.dir, file)
	if text != "" {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	if err := os.Remove(path); !os.IsNotExist(err) {
		require.NoError(t, err)
	}
}
