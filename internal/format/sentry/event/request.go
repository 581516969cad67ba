// SPDX-License-Identifier: Apache-2.0

package event

// HTTPRequest is the request that the server was handling, or the page in the browser.
// https://develop.sentry.dev/sdk/data-model/event-payloads/request/
type HTTPRequest struct {
	URL         string
	Method      string
	QueryString []byte // JSON: text, an object (raven, browsers) or a list of pairs
	Fragment    string
	Headers     []Tag
	Cookies     []byte // JSON: text, an object or a list of pairs
	Env         []byte // JSON object: the CGI environment
	Data        []byte // JSON: the body
	Rest        []NamedValue
}

// Requests is the table of HTTPRequest.
var Requests = newTable("request", func(r *HTTPRequest) *[]NamedValue { return &r.Rest },
	text("url", func(r *HTTPRequest) *string { return &r.URL }),
	text("method", func(r *HTTPRequest) *string { return &r.Method }),
	anyJSON(KindAny, "query_string", func(r *HTTPRequest) *[]byte { return &r.QueryString }),
	text("fragment", func(r *HTTPRequest) *string { return &r.Fragment }),
	headers("headers", func(r *HTTPRequest) *[]Tag { return &r.Headers }),
	anyJSON(KindAny, "cookies", func(r *HTTPRequest) *[]byte { return &r.Cookies }),
	anyJSON(KindObject, "env", func(r *HTTPRequest) *[]byte { return &r.Env }),
	anyJSON(KindAny, "data", func(r *HTTPRequest) *[]byte { return &r.Data }),
	carried[HTTPRequest](KindText, "protocol"),
	carried[HTTPRequest](KindText, "api_target"), // graphql
	carried[HTTPRequest](KindCount, "body_size"),
	carried[HTTPRequest](KindText, "inferred_content_type"),
)

// IsEmpty reports whether nothing of the request is known, except for a fragment.
func (r *HTTPRequest) IsEmpty() bool {
	return r.URL == "" && r.Method == "" && len(r.QueryString)+len(r.Headers)+len(r.Data)+len(r.Cookies)+len(r.Env)+len(r.Rest) == 0
}
