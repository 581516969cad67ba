// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// TestClientsCreateNoSeries: hosts, ports, methods, paths and versions of clients create a bounded
// number of series, and the handler sees the Host header.
func TestClientsCreateNoSeries(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	defer func() { assert.NoError(t, telemetry.Shutdown(context.Background())) }()
	config := confighttp.NewDefaultServerConfig()
	config.NetAddr.Endpoint = "localhost:4319"
	var seen string
	routes := http.NewServeMux()
	routes.HandleFunc("/a/{id}", func(_ http.ResponseWriter, req *http.Request) { seen = req.Host })
	server, err := New(t.Context(), &config, componenttest.NewNopHost(), telemetry.NewTelemetrySettings(), routes)
	require.NoError(t, err)
	for i := range 200 {
		req := httptest.NewRequest(http.MethodPost, fmt.Sprintf("/a/%d?x=%d", i, i), nil)
		req.Host = fmt.Sprintf("host%d.example:%d", i, i+1)
		if i%2 == 0 {
			req.Method = fmt.Sprintf("M%d", i)
		}
		req.Header.Set("X-Forwarded-Host", req.Host)
		req.Header.Set("X-Forwarded-Proto", fmt.Sprint("p", i))
		server.Handler.ServeHTTP(httptest.NewRecorder(), req)
		assert.Equal(t, req.Host, seen)
	}
	var found metricdata.ResourceMetrics
	require.NoError(t, telemetry.Reader.Collect(t.Context(), &found))
	metrics := 0
	for _, scope := range found.ScopeMetrics {
		for _, metric := range scope.Metrics {
			metrics++
			points := 0
			switch data := metric.Data.(type) {
			case metricdata.Histogram[int64]:
				points = len(data.DataPoints)
			case metricdata.Histogram[float64]:
				points = len(data.DataPoints)
				route, _ := data.DataPoints[0].Attributes.Value("http.route")
				assert.Equal(t, "/a/{id}", route.AsString())
				address, _ := data.DataPoints[0].Attributes.Value("server.address")
				assert.Equal(t, "localhost", address.AsString())
			}
			assert.Equal(t, 2, points, "%s: POST and another method", metric.Name)
		}
	}
	assert.NotZero(t, metrics)
}
