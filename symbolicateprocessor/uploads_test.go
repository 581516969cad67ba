// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/uploads"
)

// TestBodyReader: requests share a budget of memory, and release their part.
func TestBodyReader(t *testing.T) {
	read := bodyReader()
	request := func(size int) ([]byte, func(), error) {
		return read(httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", size))), 2<<20, 8)
	}
	var releases []func()
	refused := 0
	for range 8 {
		body, done, err := request(2 << 20)
		releases = append(releases, done)
		if err != nil {
			assert.ErrorIs(t, err, uploads.ErrNoMemory)
			refused++
			break
		}
		assert.Len(t, body, 2<<20)
	}
	require.Equal(t, 1, refused)
	for _, release := range releases {
		release()
	}
	body, done, err := request(100)
	require.NoError(t, err)
	assert.Len(t, body, 100)
	done()
	_, done, err = request(2<<20 + 1)
	assert.ErrorContains(t, err, "too large")
	done()
}
