// SPDX-License-Identifier: Apache-2.0

package collector_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

func TestChecksum(t *testing.T) {
	for _, value := range [][]byte{{}, {0}, []byte("a message"), bytes.Repeat([]byte{7}, 1<<16)} {
		stored := collector.AppendChecksum(bytes.Clone(value))
		verified, err := collector.VerifyChecksum(stored)
		require.NoError(t, err)
		assert.Equal(t, value, verified)
		for _, i := range []int{0, len(stored) / 2, len(stored) - 1} {
			broken := bytes.Clone(stored)
			broken[i] ^= 4
			_, err := collector.VerifyChecksum(broken)
			assert.ErrorIs(t, err, collector.ErrDamaged, "%d bytes, a bit of byte %d", len(value), i)
		}
		_, err = collector.VerifyChecksum(stored[:len(stored)-1])
		assert.ErrorIs(t, err, collector.ErrDamaged, "cut off")
	}
	_, err := collector.VerifyChecksum(nil)
	assert.ErrorIs(t, err, collector.ErrDamaged)
}
