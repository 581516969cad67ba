// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/corpus"
)

const root = "../../../.."

// packed is {"message": "a"}.
const packed = "eJyrVspNLS5OTE9VslJQSlSqBQAvEQUh"

// originals are the folders of original recordings: a small one, and the large one if it is beside
// the repository.
func originals(t *testing.T) []string {
	small := t.TempDir()
	for name, content := range map[string]string{
		"index.jsonl":           `{"path":"sdk-1/run/1","items":["event"],"envelope_header":["dsn"]}` + "\n" + `{"path":"sdk-1/run/2","items":["(store)"]}` + "\n",
		"sdk-1/run/1.body":      "{\"dsn\":\"\"}\n{\"type\":\"event\"}\n" + `{"context_line":"a = \"b\"","pre_context":["x","/root/é"],"n":"/root/a"}` + "\n",
		"sdk-1/run/2.body":      packed,
		"sdk-1/run/1.meta.json": `{"method":"POST","path":"/api/1/envelope/","headers":[["Content-Length","9"],["User-Agent","u"]]}`,
		"sdk-1/run/2.meta.json": `{"method":"POST","path":"/api/1/store/","query":"a=b","headers":[]}`,
	} {
		file := filepath.Join(small, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	large := corpus.Shared(root)
	if _, err := os.Stat(large); err != nil {
		t.Log("only a constructed folder is recorded: the original recordings are not in ../shared/corpus")
		return []string{small}
	}
	return []string{small, large}
}

// TestRecord: a public recording is the original one but for lines of source code and paths.
func TestRecord(t *testing.T) {
	for _, from := range originals(t) {
		want, err := corpus.ReadShared(from)
		require.NoError(t, err)
		to := t.TempDir()
		if from == corpus.Shared(root) {
			to = corpus.Public(root) // recorded before
		} else {
			require.NoError(t, record(from, to))
		}
		got, err := corpus.ReadPublic(to)
		require.NoError(t, err)
		got = slices.DeleteFunc(got, func(r corpus.Request) bool { // more was recorded later
			return !slices.ContainsFunc(want, func(original corpus.Request) bool { return original.Name == r.Name })
		})
		require.Len(t, got, len(want))
		for i := range want {
			assert.Equal(t, want[i].Name, got[i].Name)
			assert.Equal(t, want[i].Items, got[i].Items)
			assert.Equal(t, want[i].EnvelopeKeys, got[i].EnvelopeKeys)
			assert.Equal(t, want[i].Path, got[i].Path)
			assert.Equal(t, want[i].Query, got[i].Query)
			assert.Equal(t, want[i].Encoding, got[i].Encoding)
			original, wasPacked, err := decode(want[i])
			require.NoError(t, err)
			public, isPacked, err := decode(got[i])
			require.NoError(t, err)
			require.Equal(t, wasPacked, isPacked)
			require.True(t, string(corpus.Clean(original)) == string(public), want[i].Name)
		}
	}
}

func TestClean(t *testing.T) {
	assert.Equal(t, `{"context_line": "*******","pre_context":["*", "*****"],"post_context":[],"n":"/home/a","line":"x"}`,
		string(corpus.Clean([]byte(`{"context_line": "a=\"b\"","pre_context":["x", "\\/é"],"post_context":[],"n":"/root/a","line":"x"}`))))
}
