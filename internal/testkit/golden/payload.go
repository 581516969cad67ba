// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// SmallPayload is the maximum size of a payload in tests of small size.
const SmallPayload = 500_000

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
