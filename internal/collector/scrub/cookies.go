// SPDX-License-Identifier: Apache-2.0

package scrub

import "strings"

// cookie is the kind of cookie data under a key.
type cookie uint8

const (
	noCookie      cookie = iota
	cookieHeader         // a Cookie or Set-Cookie header: all cookies in one text
	sessionCookie        // the value of a session cookie
)

// sessionCookies lists the cookies that Sentry always filters: session cookies and CSRF tokens of well-known frameworks.
var sessionCookies = map[string]bool{
	"sentrysid": true, "sudo": true, "su": true, "session": true, "__session": true, "sessionid": true, "user_session": true,
	"symfony": true, "phpsessid": true, "fasthttpsessionid": true, "mysession": true, "irissessionid": true, "_vercel_jwt": true,
	"csrf": true, "xsrf": true, "_xsrf": true, "_csrf": true, "csrf-token": true, "csrf_token": true, "xsrf-token": true,
	"xsrf_token": true, "fastcsrf": true, "_iris_csrf": true,
}

// cookieOf returns the kind of a key or header name. Sentry's servers keep the other cookies of a header. Here, the whole header is
// filtered, because a session cookie may have any name.
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

// isCookies reports whether the value under a key is an object of cookies.
func isCookies(key string) bool {
	return len(key) >= len("cookies") && strings.EqualFold(key[len(key)-len("cookies"):], "cookies")
}
