// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/seal"
)

func TestSeal(t *testing.T) {
	for _, value := range [][]byte{{}, {0}, []byte("a message"), bytes.Repeat([]byte{7}, 1<<16)} {
		sealed := seal.Close(bytes.Clone(value))
		opened, err := seal.Open(sealed)
		require.NoError(t, err)
		assert.Equal(t, value, opened)
		for _, i := range []int{0, len(sealed) / 2, len(sealed) - 1} {
			broken := bytes.Clone(sealed)
			broken[i] ^= 4
			_, err := seal.Open(broken)
			assert.ErrorIs(t, err, seal.ErrBroken, "%d bytes, a bit of byte %d", len(value), i)
		}
		_, err = seal.Open(sealed[:len(sealed)-1])
		assert.ErrorIs(t, err, seal.ErrBroken, "cut off")
	}
	_, err := seal.Open(nil)
	assert.ErrorIs(t, err, seal.ErrBroken)
}
