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

// Case is a folder of testdata/cases: what an SDK sends, and what comes of it.
//
//	case.md       what the case shows, and where it comes from
//	in.envelope   the body of the request, not compressed
//	outcome.txt   how it is answered and counted
//	profiles.txt  the OTLP profiles that come out
//
// The last two are golden files. testdata/cases/README.md lists the cases by SDK, quirk and rule.
type Case struct {
	Name     string
	Envelope []byte // nil if there is no in.envelope: too large for a file, the test makes it

	dir string
}

// Cases gives all cases, by name.
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

// Read gives the text of a file of the case.
func (c Case) Read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, file))
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// Compare holds text against a golden file of the case. With the flag -update it writes the file.
func (c Case) Compare(t testing.TB, file, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(c.dir, file), []byte(text), 0o644))
		return
	}
	require.Equal(t, c.Read(t, file), text, "%s of %s is not what came out; after a change that is meant, run make golden and review the diff", file, c.Name)
}
