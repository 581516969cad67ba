// SPDX-License-Identifier: Apache-2.0

package perfetto_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPerfetto: nothing makes parsing panic, use memory beyond its bound, or put out what cannot
// be, and the slow reader agrees.
func FuzzPerfetto(f *testing.F) {
	f.Add(shop())
	lines, err := os.ReadFile("testdata/oracle.jsonl")
	require.NoError(f, err)
	for scanner := bufio.NewScanner(bytes.NewReader(lines)); scanner.Scan(); {
		var line oracle
		if json.Unmarshal(scanner.Bytes(), &line) == nil {
			f.Add(line.Trace)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := parse(t, "", data)
		compare(t, data, trace, err)
	})
}
