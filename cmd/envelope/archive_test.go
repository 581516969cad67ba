// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestSparseArchive: 3 kB can be a file of a terabyte of zeros.
func TestSparseArchive(t *testing.T) {
	testsize.NeedFull(t) // it reads 200 MiB
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "a", Mode: 0o600, Size: 512, PAXRecords: map[string]string{
		"XXX.sparse.major": "1", "XXX.sparse.minor": "0", "XXX.sparse.name": "zeros", "XXX.sparse.realsize": "1099511627776",
	}}))
	_, err := w.Write(append([]byte("0\n"), make([]byte, 510)...)) // no parts with data
	require.NoError(t, err)
	require.NoError(t, w.Close())
	sparse := bytes.ReplaceAll(b.Bytes(), []byte("XXX."), []byte("GNU.")) // the writer refuses these keys
	header, err := tar.NewReader(bytes.NewReader(sparse)).Next()
	require.NoError(t, err)
	require.EqualValues(t, 1<<40, header.Size)

	_, err = input{name: "bomb.tar", data: sparse}.members()
	assert.ErrorContains(t, err, "200 MiB")
}
