package profileviewerexporter

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
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
		next.ServeHTTP(w, r)
	})
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

// failure is an answer that is no success.
type failure struct {
	status int
	text   string
}

func (f failure) Error() string { return f.text }

func badRequest(format string, args ...any) error {
	return failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// gone: what was kept when the page heard of it has made room since.
func gone(what string) error {
	return failure{http.StatusGone, what + " is no longer kept: it was too old, or there was no room for it"}
}

// notModified: what the page has is what there is.
type notModified struct{}

// file is an answer that is to be saved.
type file struct {
	name, contentType string
	content           []byte
}

const (
	// answersAtOnce: to decode what is kept takes some times its memory, and so does what is made of it.
	answersAtOnce = 1
	// smallAnswer has its memory and no more once it is made: some hundred of them may wait for slow readers. That of the largest
	// recorded profile has 200 kB.
	smallAnswer = 1 << 20
)

// respond makes an answer when its turn comes, and writes it as JSON. One that is large keeps its turn until it is written: a slow
// reader makes others wait, as long as write_timeout lets it, and many do not fill the memory.
func (v *viewer) respond(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	select {
	case v.answering <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	done := sync.OnceFunc(func() { <-v.answering })
	defer done()
	status, content := describe(w.Header(), r, answer)
	if len(content) <= smallAnswer {
		done()
	}
	w.WriteHeader(status)
	_, _ = w.Write(content) // if the reader is gone, there is nobody left to tell
}

// describe makes the headers and the content of an answer.
func describe(header http.Header, r *http.Request, answer func(*http.Request) (any, error)) (status int, content []byte) {
	value, err := answer(r)
	header.Set("Content-Type", "application/json")
	if err == nil {
		status, content, err = encode(header, value)
	}
	if err != nil {
		status = http.StatusInternalServerError
		if f, ok := errors.AsType[failure](err); ok {
			status = f.status
		} else if errors.Is(err, timeline.ErrTooLarge) {
			status = http.StatusUnprocessableEntity
		}
		content, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return status, content
}

func encode(header http.Header, value any) (status int, content []byte, err error) {
	switch value := value.(type) {
	case notModified:
		header.Del("Content-Type")
		return http.StatusNotModified, nil, nil
	case file:
		header.Set("Content-Type", value.contentType)
		header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", value.name))
		return http.StatusOK, value.content, nil
	default:
		if tagged, ok := value.(interface{ etag() string }); ok {
			header.Set("ETag", tagged.etag())
		}
		content, err = json.Marshal(value)
		return http.StatusOK, content, err
	}
}
