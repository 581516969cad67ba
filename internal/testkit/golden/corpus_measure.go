// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/corpus"
)

// MeasureRequest is a recorded PUT /events of a Measure SDK, as JSON.
type MeasureRequest struct {
	Name  string // path below requests/
	ID    string // msr-req-id
	Body  []byte
	Blobs map[string][]byte // contents of attachments, by id; shared by the requests of an app version
}

// MeasureCorpus returns the recorded requests of Measure SDKs, by path.
func MeasureCorpus(t testing.TB) (requests []MeasureRequest) {
	t.Helper()
	files, err := corpus.Files(filepath.Join(Root(t), "testdata", "corpus", "measure.tar.zst"))
	require.NoError(t, err)
	blobs := map[string]map[string][]byte{}
	for name, content := range files {
		if folder, id := path.Split(name); path.Base(folder) == "blobs" {
			app := path.Dir(path.Dir(name))
			if blobs[app] == nil {
				blobs[app] = map[string][]byte{}
			}
			blobs[app][id] = content
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if app, file := path.Split(name); path.Base(app) != "blobs" {
			requests = append(requests, MeasureRequest{name, strings.TrimSuffix(file, ".json"), files[name], blobs[path.Clean(app)]})
		}
	}
	require.NotEmpty(t, requests)
	return requests
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
