// SPDX-License-Identifier: Apache-2.0

// Package journaltest reads the content of storages that earlier versions wrote.
package journaltest

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Read returns the values of a storage from a file that has a key and its value in base64 per line.
func Read(t *testing.T, path string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	values := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		key, encoded, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[key], err = base64.StdEncoding.DecodeString(encoded)
		require.NoError(t, err)
	}
	return values
}
