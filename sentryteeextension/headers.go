// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/mapping"
)

// hopByHop lists headers that are not forwarded: those of one connection (RFC 9110, 7.6.1), those
// that the HTTP client sets, and cookies.
var hopByHop = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Host", "Content-Length", "Expect", "Cookie",
}

// upstreamHeader returns the headers of a request for Sentry. via names this tee.
func upstreamHeader(req *http.Request, r *route, via string) http.Header {
	header := make(http.Header, len(req.Header)+2)
	for name, values := range req.Header {
		header[name] = values // values are never modified
	}
	for list := range strings.SplitSeq(strings.Join(header["Connection"], ","), ",") {
		delete(header, http.CanonicalHeaderKey(strings.TrimSpace(list)))
	}
	for _, name := range hopByHop {
		delete(header, name)
	}
	if r.handling == tunnelled {
		for _, name := range mapping.Credentials { // of the site that uses the tunnel
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

// addForwardedFor adds the address of the client. Sentry uses the first address in the list as the
// user's; without this header, that would be the address of the collector.
func addForwardedFor(header http.Header, peer string) {
	if host, _, err := net.SplitHostPort(peer); err == nil {
		peer = host
	}
	if before := strings.Join(header["X-Forwarded-For"], ", "); before != "" {
		peer = before + ", " + peer
	}
	header["X-Forwarded-For"] = []string{peer}
}

// product is the prefix of the names of tees in Via.
const product = "otelcol-sentry-tee-"

// maxTees is the maximum number of tees in a chain. It ends loops through several tees.
const maxTees = 8

// isLoop reports whether a request has passed through this tee before, or through too many tees.
func isLoop(header http.Header, via string) bool {
	before := strings.Join(header["Via"], ",")
	return strings.Contains(before, via) || strings.Count(before, product) >= maxTees
}

// answered lists the headers of Sentry's response that the client receives. Access-Control-*
// headers come from the receiver: browsers reject a response with two sets of them.
var answered = []string{
	"Content-Type", "Content-Encoding", "X-Sentry-Rate-Limits", "Retry-After", "X-Sentry-Error", "Location", "Allow", "Link", "Etag",
	"Tus-Resumable", "Tus-Version", "Tus-Extension", "Tus-Max-Size", "Tus-Checksum-Algorithm", "Upload-Offset", "Upload-Length",
	"Upload-Metadata", "Upload-Expires", "Upload-Defer-Length",
}

// copyAnswerHeader copies the headers in answered.
func copyAnswerHeader(to, from http.Header) {
	for _, name := range answered {
		if values := from[name]; len(values) > 0 {
			to[name] = values
		}
	}
}
