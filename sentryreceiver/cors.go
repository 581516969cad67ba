// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
)

// What browsers may do across origins, as Relay says it (relay-server/src/middlewares/cors.rs).
var (
	corsRequestHeaders = []string{
		"x-sentry-auth", "x-requested-with", "x-forwarded-for", "origin", "referer", "accept", "content-type",
		"authentication", "authorization", "content-encoding", "transfer-encoding",
	}
	corsExposedHeaders = []string{"x-sentry-error", "x-sentry-rate-limits", "retry-after"}
)

const corsMaxAge = 3600 // seconds

// openToBrowsers lets pages of any origin send, browser extensions and files (Origin: null) included: that is where
// browser SDKs live, and a DSN is public. It goes around all of confighttp, so that the headers are on every answer and a
// preflight, which carries no credentials, is never asked for any.
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

// restrictsOrigins says whether the user has named the origins that may send, with the "cors" section.
func restrictsOrigins(config *confighttp.ServerConfig) bool {
	return config.CORS.HasValue() && len(config.CORS.Get().AllowedOrigins) > 0
}
