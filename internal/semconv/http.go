// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel: HTTP and network.
const (
	HTTPRequestMethod         = "http.request.method"
	HTTPRequestMethodOriginal = "http.request.method_original"
	HTTPRequestHeaderPrefix   = "http.request.header."
	HTTPRequestBodyContent    = "http.request.body.content"
	HTTPRequestBodySize       = "http.request.body.size"
	HTTPResponseStatusCode    = "http.response.status_code"
	HTTPResponseHeaderPrefix  = "http.response.header."
	HTTPResponseBodyContent   = "http.response.body.content"
	HTTPRoute                 = "http.route"
	URLFull                   = "url.full"
	URLPath                   = "url.path"
	URLTemplate               = "url.template"
	URLQuery                  = "url.query"
	URLFragment               = "url.fragment"
	UserAgentOriginal         = "user_agent.original"
	BrowserName               = "browser.name" // Sentry's, derived from the user agent
	BrowserVersion            = "browser.version"
	ServerAddress             = "server.address" // server_name in Sentry
	ServerPort                = "server.port"
	NetworkPeerAddress        = "network.peer.address"
	NetworkConnectionType     = "network.connection.type"
	NetworkCarrierName        = "network.carrier.name"
)

// OTel, deprecated.
const (
	HTTPMethod      = "http.method"
	HTTPStatusCode  = "http.status_code"
	HTTPURL         = "http.url"
	HTTPTarget      = "http.target"
	HTTPQuery       = "http.query" // Sentry's
	NetPeerIP       = "net.peer.ip"
	NetSockPeerAddr = "net.sock.peer.addr"
)

// Project: members of Sentry's request and response. Sentry's Go SDK 0.50 sends the address of the
// server.
const (
	SentryRequestQueryString         = "sentry.request.query_string"
	SentryRequestData                = "sentry.request.data"
	SentryRequestCookies             = "sentry.request.cookies"
	SentryRequestEnv                 = "sentry.request.env"
	SentryRequestProtocol            = "sentry.request.protocol"
	SentryRequestAPITarget           = "sentry.request.api_target"
	SentryRequestInferredContentType = "sentry.request.inferred_content_type"
	SentryRequestPrefix              = "sentry.request." // of attributes that are only in requests
	SentryResponseCookies            = "sentry.response.cookies"
	SentryServerAddress              = "sentry.server.address"
)
