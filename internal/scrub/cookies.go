// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// cookie is the kind of cookie data under a key.
type cookie uint8

const (
	noCookie      cookie = iota
	cookieHeader         // a Cookie or Set-Cookie header: all cookies in one text
	sessionCookie        // the value of a session cookie
)

// sessionCookies lists the cookies that Sentry always filters: session cookies and CSRF tokens of
// well-known frameworks.
var sessionCookies = map[string]bool{
	"sentrysid": true, "sudo": true, "su": true, "session": true, "__session": true, "sessionid": true, "user_session": true,
	"symfony": true, "phpsessid": true, "fasthttpsessionid": true, "mysession": true, "irissessionid": true, "_vercel_jwt": true,
	"csrf": true, "xsrf": true, "_xsrf": true, "_csrf": true, "csrf-token": true, "csrf_token": true, "xsrf-token": true,
	"xsrf_token": true, "fastcsrf": true, "_iris_csrf": true,
}

// cookieOf returns the kind of a key or header name. Sentry's servers keep the other cookies of a
// header. Here, the whole header is filtered, because a session cookie may have any name.
func cookieOf(key string) cookie {
	if len(key) > maxCachedKey {
		return noCookie
	}
	found := scan(key)
	if found&hasCookie == 0 {
		return noCookie
	}
	key = strings.ToLower(key)
	switch strings.ReplaceAll(key[strings.LastIndexByte(key, '.')+1:], "_", "-") {
	case "cookie", "set-cookie", "http-cookie":
		return cookieHeader
	}
	for _, infix := range []string{".header.cookie.", ".header.set-cookie."} {
		if _, name, is := strings.Cut(key, infix); is && sessionCookies[name] {
			return sessionCookie
		}
	}
	return noCookie
}

// cookieTexts are attributes with the cookies of a request. A text in them is a header; SDKs that
// parse it send an object.
var cookieTexts = map[string]bool{semconv.SentryRequestCookies: true, semconv.HTTPRequestCookies: true}

// isCookies reports whether the value under a key is an object of cookies.
func isCookies(key string) bool {
	return len(key) >= len("cookies") && strings.EqualFold(key[len(key)-len("cookies"):], "cookies")
}

// sessionCookies filters session cookies in an object or in a list of pairs.
func (w *walker) sessionCookies(v pcommon.Value) outcome {
	result := unchanged
	filter := func(name string, value pcommon.Value) {
		if sessionCookies[strings.ToLower(name)] && !isHarmless(value) {
			value.SetStr(Filtered)
			w.count(ruleCookie)
			result = changed
		}
	}
	switch v.Type() {
	case pcommon.ValueTypeMap:
		for name, value := range v.Map().All() {
			filter(name, value)
		}
	case pcommon.ValueTypeSlice:
		for _, pair := range v.Slice().All() {
			if pair.Type() == pcommon.ValueTypeSlice && pair.Slice().Len() == 2 {
				filter(textAt(pair.Slice(), 0), pair.Slice().At(1))
			}
		}
	}
	return result
}
