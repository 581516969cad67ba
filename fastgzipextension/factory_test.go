// SPDX-License-Identifier: Apache-2.0

package fastgzipextension

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configmiddleware"
	"go.opentelemetry.io/collector/extension"
)

// A client of confighttp, as in exporters, sends gzip with either compression; the middleware
// compresses only if the exporter has not.
func TestClient(t *testing.T) {
	text := strings.Repeat("profile ", 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		assert.Equal(t, []string{"gzip"}, req.Header.Values("Content-Encoding"))
		encoded, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		assert.EqualValues(t, len(encoded), req.ContentLength)
		assert.Less(t, len(encoded), len(text)/10)
		unzipped, err := gzip.NewReader(bytes.NewReader(encoded))
		if assert.NoError(t, err) {
			decoded, err := io.ReadAll(unzipped)
			assert.NoError(t, err)
			assert.Equal(t, text, string(decoded))
		}
	}))
	defer server.Close()
	for _, compression := range []configcompression.Type{"none", "gzip"} {
		client := newClient(t, compression)
		for range 3 { // with memory of earlier requests
			resp, err := client.Post(server.URL, "text/plain", strings.NewReader(text))
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, http.StatusOK, resp.StatusCode)
		}
	}
}

// Requests without a body stay as they are.
func TestNoBody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		assert.Empty(t, req.Header.Values("Content-Encoding"))
	}))
	defer server.Close()
	resp, err := newClient(t, "none").Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func newClient(t *testing.T, compression configcompression.Type) *http.Client {
	factory, id := NewFactory(), component.NewID(componentType)
	created, err := factory.Create(t.Context(), extension.Settings{ID: id, TelemetrySettings: componenttest.NewNopTelemetrySettings()}, factory.CreateDefaultConfig())
	require.NoError(t, err)
	config := confighttp.NewDefaultClientConfig()
	config.Compression = compression
	config.Middlewares = []configmiddleware.Config{{ID: id}}
	client, err := config.ToClient(t.Context(), map[component.ID]component.Component{id: created}, componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}
