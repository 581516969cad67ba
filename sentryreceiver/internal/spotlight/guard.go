// SPDX-License-Identifier: Apache-2.0

package spotlight

import (
	"fmt"
	"net/http"
)

// Guard rejects pages of other hosts. The endpoint requires no credentials, so any page that the
// user visits could otherwise listen to the data of local applications, or send its own.
func (c *Config) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Powered-By", "spotlight-by-sentry") // Spotlight's command line listens only to a server with this header
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache")
		h.Add("Vary", "Origin")
		if !c.allowsHost(r.Host) {
			http.Error(w, fmt.Sprintf("Host %.100q is not a name of this machine.", r.Host), http.StatusMisdirectedRequest)
			return
		}
		origin := r.Header.Get("Origin")
		if origin == "" && r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			// Images and no-cors requests have no Origin. Their page cannot read the response, but
			// could use up all listeners.
			http.Error(w, "Request from another site.", http.StatusForbidden)
			return
		}
		if origin != "" && !c.allowsOrigin(origin) {
			http.Error(w, fmt.Sprintf("Origin %.100q is not allowed. To allow it, add it to spotlight::allowed_origins of the sentry receiver.", origin),
				http.StatusForbidden)
			return
		}
		if origin != "" {
			h.Set("Access-Control-Allow-Origin", origin)
		}
		if r.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			h.Set("Access-Control-Allow-Headers", "content-type, content-encoding, sentry-trace, baggage")
			h.Set("Access-Control-Max-Age", "3600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
