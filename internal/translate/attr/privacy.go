// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// This file finds Sentry's default PII. SDKs omit it unless send_default_pii is set; the
// translation omits it unless Source.IncludePII is set.

// personalKeys are attributes with personal data, regardless of their source.
var personalKeys = map[string]bool{
	semconv.UserEmail:                  true,
	semconv.UserIPAddress:              true,
	semconv.UserIP:                     true,
	"ip_address":                       true, // of Sentry's user, in any object
	semconv.ClientAddress:              true,
	"client_address":                   true,
	semconv.HTTPClientIP:               true,
	semconv.HTTPEnv:                    true,
	semconv.HTTPCookies:                true,
	"cookies":                          true, // of Sentry's request
	semconv.HTTPRequestCookies:         true,
	semconv.HTTPResponseCookies:        true,
	semconv.SentryUserEmail:            true,
	semconv.SentryUserIPAddress:        true,
	semconv.SentryRequestCookies:       true,
	semconv.SentryRequestEnv:           true,
	semconv.SentryResponseCookies:      true,
	semconv.SentryFeedbackContactEmail: true,
}

// personalHeaders are the headers that Python's SDK removes without send_default_pii
// (SENSITIVE_HEADERS), and other headers with the client's address.
var personalHeaders = map[string]bool{
	"authorization":       true,
	"proxy-authorization": true,
	"cookie":              true,
	"set-cookie":          true,
	"x-api-key":           true,
	"x-forwarded-for":     true,
	"x-real-ip":           true,
	"x-client-ip":         true,
	"x-cluster-client-ip": true,
	"forwarded":           true,
	"forwarded-for":       true,
	"true-client-ip":      true,
	"cf-connecting-ip":    true,
	"fastly-client-ip":    true,
	"fly-client-ip":       true,
	"remote-addr":         true,
}

// IsPersonal reports whether the key of an attribute is one of the above, or a header in
// OpenTelemetry's spelling.
func IsPersonal(key string) bool {
	key = strings.ToLower(key)
	if personalKeys[key] {
		return true
	}
	for _, prefix := range []string{semconv.HTTPRequestHeaderPrefix, semconv.HTTPResponseHeaderPrefix} {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			return IsPersonalHeader(name) || strings.HasPrefix(name, "cookie.") || strings.HasPrefix(name, "set-cookie.")
		}
	}
	return false
}

// RemovePersonal removes personal data from structured attributes: Python's local variables contain
// the complete environ of a request, and JavaScript's extra data the request object.
func RemovePersonal(m pcommon.Map) {
	if isPersonalName(pairName(m)) {
		m.RemoveIf(func(key string, _ pcommon.Value) bool { return pairValues[strings.ToLower(key)] })
	}
	m.RemoveIf(func(key string, value pcommon.Value) bool {
		if isPersonalName(key) {
			return true
		}
		if isUser(key) && value.Type() == pcommon.ValueTypeMap {
			value.Map().Remove("email") // elsewhere, "email" may mean something else, such as the name of an invalid form field
		}
		RemovePersonalIn(value)
		return false
	})
}

// isUser reports whether the value of a key describes a user: the context of that name, a copy in
// extra data, or fields that applications add to Sentry's user.
func isUser(key string) bool {
	return key == "user" || key == semconv.SentryContextUser || strings.HasPrefix(key, semconv.SentryUserPrefix)
}

// isPersonalName reports whether a key, or a header name in the notation of applications and CGI
// environments, is personal.
func isPersonalName(name string) bool {
	return name != "" && (IsPersonal(name) || IsPersonalHeader(trimPrefixFold(name, "http_")))
}

// Headers and cookies also occur as lists of objects with a name and a value, as in HAR files and
// in the logs of Node's clients.
var (
	pairNames  = map[string]bool{"name": true, "key": true, "header": true}
	pairValues = map[string]bool{"value": true, "values": true}
)

// maxPair is the maximum number of members of such an object: a cookie of a HAR file has eight.
const maxPair = 8

// pairName returns the name in an object with a name and a value, or "" for other objects.
func pairName(m pcommon.Map) (name string) {
	if m.Len() > maxPair {
		return ""
	}
	for key, value := range m.All() {
		if value.Type() == pcommon.ValueTypeStr && pairNames[strings.ToLower(key)] {
			name = value.Str()
		}
	}
	return name
}

func RemovePersonalIn(value pcommon.Value) {
	switch value.Type() {
	case pcommon.ValueTypeMap:
		RemovePersonal(value.Map())
	case pcommon.ValueTypeSlice:
		removePersonalFromList(value.Slice())
	case pcommon.ValueTypeStr:
		removePersonalFromText(value)
	}
}

// removePersonalFromList removes header pairs, ["Cookie", "a=b"], and the values of headers in a
// flat list of names and values, as in Node's rawHeaders.
func removePersonalFromList(list pcommon.Slice) {
	list.RemoveIf(func(element pcommon.Value) bool {
		if element.Type() == pcommon.ValueTypeSlice && element.Slice().Len() == 2 && isPersonalName(textAt(element.Slice(), 0)) {
			return true
		}
		RemovePersonalIn(element)
		return false
	})
	if list.Len()%2 != 0 {
		return
	}
	for i := 0; i < list.Len(); i += 2 {
		if name := textAt(list, i); name != "" && IsPersonalHeader(name) && textAt(list, i+1) != "" {
			list.At(i + 1).SetStr(semconv.Filtered)
		}
	}
}

// textAt returns the text of an element, or "" for other types.
func textAt(list pcommon.Slice, i int) string {
	if element := list.At(i); element.Type() == pcommon.ValueTypeStr {
		return element.Str()
	}
	return ""
}

// removePersonalFromText removes personal data from text that is JSON: the body of a request, or a
// logged object. An object with too many members for a map is also text (values.go) and is removed
// as a whole.
func removePersonalFromText(value pcommon.Value) {
	text := strings.TrimSpace(value.Str())
	if text == "" || text[0] != '{' && text[0] != '[' || !namesPersonal(text) {
		return
	}
	parsed := pcommon.NewValueEmpty()
	if jsonscan.ValidJSON([]byte(text)) {
		SetJSON(parsed, []byte(text))
	}
	if parsed.Type() != pcommon.ValueTypeMap && parsed.Type() != pcommon.ValueTypeSlice {
		if text[0] == '{' && len(text) > MaxMembers {
			value.SetStr(semconv.Filtered)
		}
		return
	}
	before := string(JsonOf(parsed))
	RemovePersonalIn(parsed)
	if after := string(JsonOf(parsed)); after != before {
		value.SetStr(after)
	}
}

// personalNames are the keys of personalKeys and personalHeaders, with hyphens.
var personalNames = func() (names []string) {
	for _, known := range []map[string]bool{personalHeaders, personalKeys} {
		for name := range known {
			names = append(names, strings.ReplaceAll(name, "_", "-"))
		}
	}
	return append(names, "email") // of objects that describe a user
}()

// namesPersonal reports whether the text of an object contains a personal header or key anywhere.
func namesPersonal(text string) bool {
	text = strings.ReplaceAll(strings.ToLower(text), "_", "-")
	return slices.ContainsFunc(personalNames, func(name string) bool { return strings.Contains(text, name) })
}

// trimPrefixFold removes a prefix in any case: "HTTP_COOKIE" is the header "Cookie" in a CGI
// environment.
func trimPrefixFold(text, prefix string) string {
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):]
	}
	return text
}

// IsPersonalHeader reports whether a header is personal, with hyphens or underscores in its name.
func IsPersonalHeader(name string) bool {
	folded := make([]byte, 0, 64) // not on the heap: this is asked for each key of an item
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_':
			c = '-'
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c >= utf8.RuneSelf: // the lower case of the Kelvin sign is k
			return personalHeaders[strings.ReplaceAll(strings.ToLower(name), "_", "-")]
		}
		folded = append(folded, c)
	}
	return personalHeaders[string(folded)]
}
