// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// routes are the page, and what it asks for. Nothing here changes anything, so there is only GET.
func (v *viewer) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, answer func(*http.Request) (any, error)) {
		mux.HandleFunc("GET /api/"+path, func(w http.ResponseWriter, r *http.Request) { v.respond(w, r, answer) })
	}
	handle("overview", v.overview)
	handle("profiles/{profile}", v.profileDetail)
	handle("flame", v.flameGraph)
	handle("ordered", v.orderedGraph)
	handle("frame", v.frameDetail)
	handle("compare", v.compare)
	handle("traces/{trace}", v.traceDetail)
	handle("traces/{trace}/spans/{span}", v.spanDetail)
	handle("logs", v.logList)
	handle("download/{format}", v.download)
	mux.Handle("GET /", page())
	return v.guard(mux)
}

// guard lets nobody read what is here but the page itself: not other sites that have this address under a name of theirs (DNS
// rebinding), not scripts that came in as somebody's function name.
func (v *viewer) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policyFor(r.URL.Path))
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-cache")
		if !v.hostAllowed(r.Host) {
			http.Error(w, fmt.Sprintf("This page is not served under the name %q. If that is meant, add it to allowed_hosts of the profile_viewer exporter.",
				shorten(r.Host)), http.StatusMisdirectedRequest)
			return
		}
		if crossSite(r) {
			http.Error(w, "A page of another site asks for this. Open the page of the profile_viewer exporter itself.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossSite reports whether a page of another origin makes the request. It could not read the response, but it could have the
// collector build one after the other. Another port of this host is another origin, too. A link from elsewhere may open the page
// itself, but no download. Old browsers, and all where the page is not served from the local host or by TLS, send no
// Sec-Fetch-Site; what is not a GET of a link or an image has an Origin then.
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
	// pagePolicy: only files of ours, and no HTML made of text: what the browser calls trusted types cannot be created.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	// speedscopePolicy: speedscope writes its style sheets as it runs, and has some of its code as WebAssembly.
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

// hostAllowed tells whether a page of that host may be ours. An address cannot be made to point elsewhere, a name can.
func (v *viewer) hostAllowed(hostport string) bool {
	host := hostname(hostport)
	if net.ParseIP(host) != nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	same := func(other string) bool { return other != "" && strings.EqualFold(host, other) }
	return same(hostname(v.cfg.HTTP.NetAddr.Endpoint)) || slices.ContainsFunc(v.cfg.AllowedHosts, same)
}

func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.Trim(host, "[]")
}
