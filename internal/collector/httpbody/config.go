// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"fmt"
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/collector/config/confighttp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
)

// defaultReadTimeout limits the duration of a request, for which confighttp has no default. It is
// the time to upload 32 MB, the largest file for the measure receiver, at 0.9 Mbit/s.
const defaultReadTimeout = 5 * time.Minute

// DefaultServerConfig returns the default settings of the server of a receiver.
func DefaultServerConfig(endpoint string, maxBody int64) confighttp.ServerConfig {
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = endpoint
	server.MaxRequestBodySize = maxBody
	server.ReadTimeout = defaultReadTimeout
	server.CompressionAlgorithms = slices.Clone(Defaults)
	return server
}

// Validate checks the settings of the server of a receiver. Its messages name the key and a valid
// value.
func Validate(http *confighttp.ServerConfig, maxBytesInFlight int64, defaultEndpoint string, defaultMaxBody int64) (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	problems = append(problems, httpserver.Check(http, defaultEndpoint)...)
	if size := http.MaxRequestBodySize; size <= 0 || size > math.MaxInt32 {
		problem("max_request_body_size: is %d, must be a number of bytes from 1 to %d, e.g. %d", size, math.MaxInt32, defaultMaxBody)
	}
	if need := MaxPerRequest(http.MaxRequestBodySize); maxBytesInFlight < need {
		problem("max_bytes_in_flight: is %d, must be at least %d: three times max_request_body_size (%d, at least %d) plus %d",
			maxBytesInFlight, need, http.MaxRequestBodySize, minBuffer, MaxWindow)
	}
	if len(http.CompressionAlgorithms) == 0 {
		problem("compression_algorithms: must not be empty; use at least %q, for no compression", Identity)
	}
	for _, name := range http.CompressionAlgorithms {
		// confighttp accepts any name, and fails at the first request with the coding.
		if !Known(name) {
			problem("compression_algorithms: %q is unknown, must be one of %q", name, slices.Concat(Defaults, Foreign))
		}
	}
	return problems
}
