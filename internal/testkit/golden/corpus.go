// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/corpus"
)

// Request is a recorded request of a real SDK.
type Request = corpus.Request

var read = sync.OnceValues(func() ([]corpus.Request, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	return corpus.Read(root)
})

// Corpus returns the recorded requests, in the order of their index.
func Corpus(t testing.TB) []Request {
	t.Helper()
	recorded, err := read()
	require.NoError(t, err)
	return slices.Clone(recorded)
}

// Root is the root of the repository.
func Root(t testing.TB) string {
	root, err := findRoot()
	require.NoError(t, err)
	return root
}

func findRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", os.ErrNotExist
		}
		dir = parent
	}
	return "", err
}
