// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// ShortPayload is the maximum size of a payload in tests with -short. With the race detector,
// larger ones take minutes; CI runs these tests a second time without both.
const ShortPayload = 500_000

// Payload returns the payload of the first item of a type in a case of testdata/cases.
func Payload(t testing.TB, name string, item sentry.ItemType) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(Root(t), "testdata", "cases", name, "in.envelope"))
	require.NoError(t, err)
	envelope, err := sentry.ReadEnvelope(body)
	require.NoError(t, err)
	for i := range envelope.Items {
		if envelope.Items[i].Header.Type == item {
			return envelope.Items[i].Payload
		}
	}
	t.Fatalf("case %s has no %s", name, item)
	return nil
}
