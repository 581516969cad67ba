// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNeutralReason: the scanner serves all items, and names the reason of none of them.
func TestNeutralReason(t *testing.T) {
	s := Scanner{Data: []byte(`{"a":`)}
	s.Skip()
	require.Equal(t, ReasonMalformed, s.Err.Reason)
}
