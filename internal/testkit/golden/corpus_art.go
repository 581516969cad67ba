// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// AndroidTrace returns a recorded method trace of Android. Like Corpus, it skips tests without
// recordings.
func AndroidTrace(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join(Root(t), "..", "shared", "corpus", "android", name+".gz"))
	if os.IsNotExist(err) {
		t.Skip("the corpus of recorded Android traces is not here: beside the repository, shared/corpus/android")
	}
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	data, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	return data
}
