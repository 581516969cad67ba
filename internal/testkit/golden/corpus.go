// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/corpus"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
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

// Sample returns the recorded requests. In small size it returns the smallest request of each SDK
// with each type of item.
func Sample(t testing.TB) []Request {
	t.Helper()
	all := Corpus(t)
	if testsize.Full() {
		return all
	}
	type kind struct{ sdk, item string }
	smallest := map[kind]int{}
	for i, request := range all {
		sdk, _, _ := strings.Cut(request.Name, "/")
		for _, item := range request.Items {
			best, found := smallest[kind{sdk, item}]
			if !found || len(request.Body) < len(all[best].Body) {
				smallest[kind{sdk, item}] = i
			}
		}
	}
	var sample []Request
	for _, i := range slices.Compact(slices.Sorted(maps.Values(smallest))) {
		sample = append(sample, all[i])
	}
	return sample
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
