// SPDX-License-Identifier: Apache-2.0

package semconv

// OpenTelemetry's conventions: HTTP and the network.
const (
	HTTPRequestMethod         = "http.request.method"
	HTTPRequestMethodOriginal = "http.request.method_original"
	HTTPRequestHeaderPrefix   = "http.request.header."
	HTTPRequestBodyContent    = "http.request.body.content"
	HTTPResponseStatusCode    = "http.response.status_code"
	HTTPResponseHeaderPrefix  = "http.response.header."
	HTTPResponseBodyContent   = "http.response.body.content"
	HTTPRoute                 = "http.route"
	URLFull                   = "url.full"
	URLPath                   = "url.path"
	URLQuery                  = "url.query"
	URLFragment               = "url.fragment"
	UserAgentOriginal         = "user_agent.original"
	ServerAddress             = "server.address" // Sentry's server_name
	ServerPort                = "server.port"
	NetworkPeerAddress        = "network.peer.address"
	NetworkConnectionType     = "network.connection.type"
	NetworkCarrierName        = "network.carrier.name"
)

// OpenTelemetry's conventions, former names of these.
const (
	HTTPMethod      = "http.method"
	HTTPStatusCode  = "http.status_code"
	HTTPURL         = "http.url"
	HTTPTarget      = "http.target"
	NetPeerIP       = "net.peer.ip"
	NetSockPeerAddr = "net.sock.peer.addr"
)

// Names of Sentry's: of its requests, and of an address in attributes of go's SDK 0.50.
const (
	SentryRequestQueryString = "sentry.request.query_string"
	SentryRequestData        = "sentry.request.data"
	SentryRequestCookies     = "sentry.request.cookies"
	SentryRequestEnv         = "sentry.request.env"
	SentryResponseCookies    = "sentry.response.cookies"
	SentryServerAddress      = "sentry.server.address"
)
