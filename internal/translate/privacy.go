package translate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// What Sentry calls default PII, by the keys it comes under: SDKs leave it out unless send_default_pii is set, and so does
// this product unless Source.IncludePII is.

// personalKeys are attributes, whoever set them.
var personalKeys = map[string]bool{
	"user.email":              true,
	"user.ip_address":         true,
	"user.ip":                 true,
	"ip_address":              true, // of Sentry's user, wherever one is
	"client.address":          true,
	"client_address":          true,
	"http.client_ip":          true,
	"http.env":                true,
	"http.cookies":            true,
	"cookies":                 true, // of Sentry's request
	"http.request.cookies":    true,
	"http.response.cookies":   true,
	"sentry.user.email":       true,
	"sentry.user.ip_address":  true,
	"sentry.request.cookies":  true,
	"sentry.request.env":      true,
	"sentry.response.cookies": true,
	keyFeedbackEmail:          true,
}

// personalHeaders are the headers that python's SDK holds back without send_default_pii (SENSITIVE_HEADERS), and others that
// carry the address of the client.
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

// isPersonal judges an attribute by its key: those above, and the headers in OpenTelemetry's spelling.
func isPersonal(key string) bool {
	key = strings.ToLower(key)
	if personalKeys[key] {
		return true
	}
	for _, prefix := range []string{"http.request.header.", "http.response.header."} {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			return isPersonalHeader(name) || strings.HasPrefix(name, "cookie.") || strings.HasPrefix(name, "set-cookie.")
		}
	}
	return false
}

// removePersonal takes the same things out of structured attributes: python's local variables have the whole environ of a
// request in them, and JavaScript's extra data the request object.
func removePersonal(m pcommon.Map) {
	m.RemoveIf(func(key string, value pcommon.Value) bool {
		if isPersonal(key) || isPersonalHeader(trimPrefixFold(key, "http_")) {
			return true
		}
		if isUser(key) && value.Type() == pcommon.ValueTypeMap {
			value.Map().Remove("email") // elsewhere it may be anything, such as the name of a field that failed
		}
		removePersonalIn(value)
		return false
	})
}

// isUser knows objects that describe a user: the context of that name, what was copied to extra data, and what applications
// put beside the fields of Sentry's own.
func isUser(key string) bool {
	return key == "user" || key == "sentry.context.user" || strings.HasPrefix(key, "sentry.user.")
}

func removePersonalIn(value pcommon.Value) {
	switch value.Type() {
	case pcommon.ValueTypeMap:
		removePersonal(value.Map())
	case pcommon.ValueTypeSlice:
		for _, element := range value.Slice().All() {
			removePersonalIn(element)
		}
	case pcommon.ValueTypeStr:
		// An object with too many members for a map is its own text (values.go), which has no keys to judge by.
		if text := value.Str(); len(text) > maxMembers && text[0] == '{' && namesPersonal(text) {
			value.SetStr(filtered)
		}
	}
}

// filtered is what Sentry puts in place of what it takes out.
const filtered = "[Filtered]"

// namesPersonal says whether the text of an object mentions a personal header or key anywhere.
func namesPersonal(text string) bool {
	text = strings.ReplaceAll(strings.ToLower(text), "_", "-")
	for _, names := range []map[string]bool{personalHeaders, personalKeys} {
		for name := range names {
			if strings.Contains(text, strings.ReplaceAll(name, "_", "-")) {
				return true
			}
		}
	}
	return false
}

// removePersonalFromSpans does it for whole spans, unless personal data are asked for.
func removePersonalFromSpans(spans ptrace.SpanSlice, src Source) {
	if src.IncludePII {
		return
	}
	for _, span := range spans.All() {
		removePersonal(span.Attributes())
		for _, link := range span.Links().All() {
			removePersonal(link.Attributes())
		}
	}
}

// trimPrefixFold removes a prefix in any case: "HTTP_COOKIE" is the header "Cookie" in a CGI environment.
func trimPrefixFold(text, prefix string) string {
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):]
	}
	return text
}

// isPersonalHeader judges a header by its name, hyphens or underscores.
func isPersonalHeader(name string) bool {
	return personalHeaders[strings.ReplaceAll(strings.ToLower(name), "_", "-")]
}
