// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// TestLongKeyOfManyAttributes: the key of attributes is examined once, however many refer to it.
// Examining this key allocates its size.
func TestLongKeyOfManyAttributes(t *testing.T) {
	scrubber, err := New(DefaultConfig())
	require.NoError(t, err)
	key := strings.Repeat("Ab-", 100_000)
	perRun := func(attributes int) float64 {
		data := pprofile.NewProfiles()
		data.Dictionary().StringTable().Append("", key)
		for range attributes {
			a := data.Dictionary().AttributeTable().AppendEmpty()
			a.SetKeyStrindex(1)
			a.Value().SetStr("value")
		}
		return testing.AllocsPerRun(1, func() { scrubber.Dictionary(data) })
	}
	assert.InDelta(t, perRun(1), perRun(1000), 10)
}
