// SPDX-License-Identifier: Apache-2.0

package scrub

import "strings"

// cookie is the kind of cookie data that a key names.
type cookie uint8

const (
	noCookie      cookie = iota
	cookieHeader         // the header of a request or a response: all cookies in one text
	sessionCookie        // the value of a session cookie
)

// sessionCookies are the cookies that Sentry always filters: sessions and tokens against request forgery of well-known frameworks.
var sessionCookies = map[string]bool{
	"sentrysid": true, "sudo": true, "su": true, "session": true, "__session": true, "sessionid": true, "user_session": true,
	"symfony": true, "phpsessid": true, "fasthttpsessionid": true, "mysession": true, "irissessionid": true, "_vercel_jwt": true,
	"csrf": true, "xsrf": true, "_xsrf": true, "_csrf": true, "csrf-token": true, "csrf_token": true, "xsrf-token": true,
	"xsrf_token": true, "fastcsrf": true, "_iris_csrf": true,
}

// cookieOf classifies a key or the name of a header. Sentry's servers keep the rest of a cookie header; here it is filtered as a whole,
// because the value of a session cookie with another name is not known.
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

// isCookies reports whether a key names an object of cookies.
func isCookies(key string) bool {
	return len(key) >= len("cookies") && strings.EqualFold(key[len(key)-len("cookies"):], "cookies")
}
