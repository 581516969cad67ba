// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
)

// CORS headers, the same as those of Relay (relay-server/src/middlewares/cors.rs).
var (
	corsRequestHeaders = []string{
		"x-sentry-auth", "x-requested-with", "x-forwarded-for", "origin", "referer", "accept", "content-type",
		"authentication", "authorization", "content-encoding", "transfer-encoding",
	}
	corsExposedHeaders = []string{"x-sentry-error", "x-sentry-rate-limits", "retry-after"}
)

const corsMaxAge = 3600 // seconds

// openToBrowsers accepts pages of any origin, including browser extensions and local files (Origin:
// null): browser SDKs run there, and a DSN is public. It wraps the whole confighttp handler, so
// that every response has the CORS headers, and preflights, which carry no credentials, need no
// authentication.
func openToBrowsers(next http.Handler, userHeaders configopaque.MapList) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", strings.Join(corsExposedHeaders, ", "))
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		if req.Method != http.MethodOptions {
			next.ServeHTTP(w, req)
			return
		}
		h.Set("Access-Control-Allow-Methods", http.MethodPost)
		h.Set("Access-Control-Allow-Headers", strings.Join(corsRequestHeaders, ", "))
		h.Set("Access-Control-Max-Age", strconv.Itoa(corsMaxAge))
		for name, value := range userHeaders.Iter {
			h.Set(name, string(value))
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// restrictsOrigins reports whether the "cors" section of the configuration restricts origins.
func restrictsOrigins(config *confighttp.ServerConfig) bool {
	return config.CORS.HasValue() && len(config.CORS.Get().AllowedOrigins) > 0
}
