// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"fmt"
	"math"
	"slices"

	"go.opentelemetry.io/collector/config/confighttp"
)

// Validate checks what a configuration says of bodies: the sizes in bytes and the codings. The messages name the key and what to
// write instead.
func Validate(http *confighttp.ServerConfig, maxBytesInFlight, defaultMaxBody int64) (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if size := http.MaxRequestBodySize; size <= 0 || size > math.MaxInt32 {
		problem("max_request_body_size: is %d, must be a number of bytes from 1 to %d, e.g. %d", size, math.MaxInt32, defaultMaxBody)
	}
	if need := NeedOfOne(http.MaxRequestBodySize); maxBytesInFlight < need {
		problem("max_bytes_in_flight: is %d, must be at least %d for max_request_body_size: %d: three times that, which counts as %d at least, and %d",
			maxBytesInFlight, need, http.MaxRequestBodySize, minBuffer, MaxWindow)
	}
	if len(http.CompressionAlgorithms) == 0 {
		problem("compression_algorithms: must not be empty, give at least %q, which is no compression", Identity)
	}
	for _, name := range http.CompressionAlgorithms {
		// confighttp takes any name, and then fails on the first request that is encoded so.
		if !Known(name) {
			problem("compression_algorithms: %q is not known, must be among %q", name, slices.Concat(Defaults, Foreign))
		}
	}
	return problems
}
