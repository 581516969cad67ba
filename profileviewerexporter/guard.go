// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// guarded protects the content of the viewer from other sites, including those that point one of
// their host names to this address (DNS rebinding), and from scripts in the data, for instance in a
// function name. hosts are the host names that may serve the page, with or without a port, in
// addition to localhost and IP addresses.
func guarded(next http.Handler, hosts []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policyFor(r.URL.Path))
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-cache")
		if !allowedHost(r.Host, hosts) {
			http.Error(w, fmt.Sprintf("Host %q is not allowed. To allow it, add it to allowed_hosts of the profile_viewer exporter.",
				timeline.Printable(r.Host, timeline.MaxText)), http.StatusMisdirectedRequest)
			return
		}
		if crossSite(r) {
			http.Error(w, "Request from another site. Open the page of the profile_viewer exporter instead.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossSite reports whether a page of another origin sends the request. Such a page could not read
// the responses, but it could make the collector build many. Another port of this host is another
// origin. A link from another site may open the page, but may not start a download. Old browsers
// send no Sec-Fetch-Site, and other browsers send it only over TLS or to localhost; in these cases,
// requests other than links and images have an Origin.
func crossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none": // none: typed by the user
		return false
	case "":
		origin := r.Header.Get("Origin")
		if origin == "" {
			return false
		}
		parsed, err := url.Parse(origin)
		return err != nil || parsed.Host != r.Host
	}
	opensPage := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !opensPage || strings.HasPrefix(r.URL.Path, "/api/")
}

const (
	// pagePolicy allows only our own files. It also prevents scripts from turning text into HTML,
	// because no trusted types can be created.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	// speedscopePolicy allows what speedscope needs: inline style sheets and WebAssembly.
	speedscopePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	speedscopePath = "/speedscope/"
)

func policyFor(path string) string {
	if strings.HasPrefix(path, speedscopePath) {
		return speedscopePolicy
	}
	return pagePolicy
}

// allowedHost reports whether the page may be served for a Host header. IP addresses are safe,
// because only names can be rebound.
func allowedHost(hostport string, hosts []string) bool {
	host := hostname(hostport)
	if net.ParseIP(host) != nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	return slices.ContainsFunc(hosts, func(other string) bool {
		other = hostname(other)
		return other != "" && strings.EqualFold(host, other)
	})
}

func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.Trim(host, "[]")
}
