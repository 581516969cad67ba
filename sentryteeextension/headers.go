// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
)

// hopByHop are the headers of one connection (RFC 9110, 7.6.1), those that the client of the tee sets itself, and cookies: they are of
// the collector's own origin.
var hopByHop = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Host", "Content-Length", "Expect", "Cookie",
}

// ofTheSite are the headers of a tunnel request that are credentials of the site which uses the tunnel.
var ofTheSite = []string{"Authorization", "X-Sentry-Auth"}

// upstreamHeader returns the headers of a request for Sentry. via names this tee.
func upstreamHeader(req *http.Request, r *route, via string) http.Header {
	header := make(http.Header, len(req.Header)+2)
	for name, values := range req.Header {
		header[name] = values // no one changes the values of a request
	}
	for list := range strings.SplitSeq(strings.Join(header["Connection"], ","), ",") {
		delete(header, http.CanonicalHeaderKey(strings.TrimSpace(list)))
	}
	for _, name := range hopByHop {
		delete(header, name)
	}
	if r.handling == tunnelled {
		for _, name := range ofTheSite {
			delete(header, name)
		}
	}
	if sent, changed := httpbody.SentCodings(req); changed {
		header["Content-Encoding"] = sent
	}
	if _, sent := header["User-Agent"]; !sent {
		header["User-Agent"] = []string{""} // net/http would add its own
	}
	addForwardedFor(header, req.RemoteAddr)
	protocol := strconv.Itoa(req.ProtoMajor) + "." + strconv.Itoa(req.ProtoMinor)
	if req.ProtoMajor >= 2 {
		protocol = strconv.Itoa(req.ProtoMajor)
	}
	header["Via"] = append(header["Via"][:len(header["Via"]):len(header["Via"])], protocol+" "+via)
	return header
}

// addForwardedFor adds the address of the peer. Sentry takes the first address of the list for that of the user: without it, all users
// would have that of the collector.
func addForwardedFor(header http.Header, peer string) {
	if host, _, err := net.SplitHostPort(peer); err == nil {
		peer = host
	}
	if before := strings.Join(header["X-Forwarded-For"], ", "); before != "" {
		peer = before + ", " + peer
	}
	header["X-Forwarded-For"] = []string{peer}
}

// product is what all tees are called in Via, in front of what tells them apart.
const product = "otelcol-sentry-tee-"

// maxTees bounds a chain of tees, which a loop through several of them would make endless.
const maxTees = 8

// isLoop reports whether a request has been here before.
func isLoop(header http.Header, via string) bool {
	before := strings.Join(header["Via"], ",")
	return strings.Contains(before, via) || strings.Count(before, product) >= maxTees
}

// answered are the headers of Sentry's answer that a client of the tee gets. Access-Control-* is not among them: the receiver has set
// its own, and browsers refuse an answer with two.
var answered = []string{
	"Content-Type", "Content-Encoding", "X-Sentry-Rate-Limits", "Retry-After", "X-Sentry-Error", "Location", "Allow", "Link", "Etag",
	"Tus-Resumable", "Tus-Version", "Tus-Extension", "Tus-Max-Size", "Tus-Checksum-Algorithm", "Upload-Offset", "Upload-Length",
	"Upload-Metadata", "Upload-Expires", "Upload-Defer-Length",
}

// copyAnswerHeader writes those of Sentry's headers that are for the client.
func copyAnswerHeader(to, from http.Header) {
	for _, name := range answered {
		if values := from[name]; len(values) > 0 {
			to[name] = values
		}
	}
}
