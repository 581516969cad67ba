// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
)

// TestErrorHasNoMessage: a message that cannot be decoded is not in the content.
func TestErrorHasNoMessage(t *testing.T) {
	binary, err := new(pprofile.ProtoMarshaler).MarshalProfiles(dictionarytest.ValidProfiles())
	require.NoError(t, err)
	text, err := new(pprofile.JSONMarshaler).MarshalProfiles(dictionarytest.ValidProfiles())
	require.NoError(t, err)
	failed := map[string]int{}
	for _, file := range [][]byte{binary, text} {
		for at := range file {
			broken := bytes.Clone(file)
			broken[at] ^= 0x15
			for _, data := range [][]byte{broken, file[:at]} {
				for format, read := range Readers {
					if content, err := read(data, importer.Options{}); err != nil {
						failed[format]++
						require.Empty(t, content.Profiles, "%s: %q", format, data)
						require.Empty(t, content.Traces, "%s: %q", format, data)
						require.Empty(t, content.Logs, "%s: %q", format, data)
						require.Empty(t, content.Metrics, "%s: %q", format, data)
					}
				}
			}
		}
	}
	for format := range Readers {
		assert.NotZero(t, failed[format], format)
	}
}
