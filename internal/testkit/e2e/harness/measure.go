// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// MeasureUpload is an element of a response of the Measure receiver: where to upload a file.
type MeasureUpload struct {
	ID      string            `json:"id"`
	URL     string            `json:"upload_url"`
	Headers map[string]string `json:"headers"`
}

// Put sends a PUT request, as Measure's SDKs do, and returns the status and the body of the
// response.
func Put(t *testing.T, url string, body []byte, headers map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(body))
	require.NoError(t, err)
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}
