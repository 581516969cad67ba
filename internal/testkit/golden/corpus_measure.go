// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// MeasureRequest is a recorded PUT /events of a Measure SDK, as JSON.
type MeasureRequest struct {
	Name  string // path below requests/
	ID    string // msr-req-id
	Body  []byte
	Blobs map[string][]byte // contents of attachments, by id; shared by the requests of an app version
}

// MeasureCorpus returns the recorded requests of Measure SDKs, by path. Like Corpus, it skips tests
// without recordings.
func MeasureCorpus(t testing.TB) (requests []MeasureRequest) {
	t.Helper()
	root := filepath.Join(Root(t), "..", "shared", "corpus", "measure", "requests")
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "*.json"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the corpus of recorded Measure requests is not here: beside the repository, shared/corpus/measure")
	}
	blobs := map[string]map[string][]byte{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		folder := filepath.Dir(file)
		if blobs[folder] == nil {
			blobs[folder] = readBlobs(t, filepath.Join(folder, "blobs"))
		}
		name, err := filepath.Rel(root, file)
		require.NoError(t, err)
		requests = append(requests, MeasureRequest{name, strings.TrimSuffix(filepath.Base(file), ".json"), body, blobs[folder]})
	}
	return requests
}

func readBlobs(t testing.TB, folder string) map[string][]byte {
	blobs := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, entry := range entries {
		blobs[entry.Name()], err = os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
	}
	return blobs
}

// MeasureCases returns the folders of testdata/measure, by name: in.json is the body of a PUT
// /events, case.md describes it, and the other files are golden.
func MeasureCases(t testing.TB) (cases []Case) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Root(t), "testdata", "measure", "*", "in.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		dir := filepath.Dir(file)
		cases = append(cases, Case{Name: filepath.Base(dir), dir: dir})
	}
	return cases
}
