// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel.
const (
	UserID          = "user.id"
	UserName        = "user.name"
	UserFullName    = "user.full_name"
	UserEmail       = "user.email"
	UserHash        = "user.hash"
	EnduserID       = "enduser.id"
	EnduserPseudoID = "enduser.pseudo.id"
	ClientAddress   = "client.address"
	SessionID       = "session.id"

	SessionPreviousID = "session.previous_id"
	DeviceID          = "device.id"
	UserPrefix        = "user."
)

// Other keys of personal data, from SDKs, applications and deprecated conventions.
const (
	UserIP              = "user.ip"
	UserIPAddress       = "user.ip_address"
	HTTPClientIP        = "http.client_ip"
	HTTPEnv             = "http.env"
	HTTPCookies         = "http.cookies"
	HTTPRequestCookies  = "http.request.cookies"
	HTTPResponseCookies = "http.response.cookies"
)

// Project: members of Sentry's user without a conventional key.
const (
	SentryUserPrefix    = "sentry.user."
	SentryUserEmail     = "sentry.user.email"
	SentryUserIPAddress = "sentry.user.ip_address"
)
