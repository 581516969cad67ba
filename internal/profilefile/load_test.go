// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLoadIsBounded: the limit is that of the content.
func TestLoadIsBounded(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Less(t, packed.Len(), 1<<12)
	_, err = Load(bytes.NewReader(packed.Bytes()), 1<<20-1)
	assert.ErrorContains(t, err, "1048575 bytes")
	file, err := Load(bytes.NewReader(packed.Bytes()), 1<<20)
	require.NoError(t, err)
	assert.Len(t, file.Data, 1<<20)

	_, err = Load(strings.NewReader("12345"), 4)
	assert.ErrorContains(t, err, "more than 4 bytes")
	file, err = Load(strings.NewReader("1234"), 4)
	require.NoError(t, err)
	assert.Len(t, file.Data, 4)
}

// TestLayersAreBounded: streams without content are no way around the limit.
func TestLayersAreBounded(t *testing.T) {
	const limit = 1 << 20
	var empty, packed bytes.Buffer
	require.NoError(t, gzip.NewWriter(&empty).Close())
	w := gzip.NewWriter(&packed)
	_, err := w.Write(bytes.Repeat(empty.Bytes(), limit/empty.Len()+1))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = Load(&packed, limit)
	assert.ErrorIs(t, err, TooLargeError{limit})
}
