// SPDX-License-Identifier: Apache-2.0

// Package sentry implements the wire formats of Sentry's SDKs: envelopes, items, credentials, DSNs
// and rate limits. It has no knowledge of OpenTelemetry: internal/translate maps the formats to
// OTLP, and the components implement HTTP.
//
// A request passes through the following steps. Data for Sentry passes through their inverses in
// reverse order:
//
//	Authenticate    the sender             auth.go, dsn.go        https://develop.sentry.dev/sdk/foundations/transport/authentication/
//	ReadEnvelope    items                  envelope.go            https://develop.sentry.dev/sdk/foundations/transport/envelopes/
//	ItemType        the type of an item    item.go                https://develop.sentry.dev/sdk/foundations/transport/envelope-items/
//	profile, event  the payload            folders of that name   https://develop.sentry.dev/sdk/telemetry/
//	RateLimit       pauses for SDKs        ratelimit.go           https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
//	AppendEnvelope  inverse of the reader  envelope_writer.go     outgoing.go has the limits of sent data
//
// Two folders implement payloads: profile (V1 and V2 profiles, the hot path of the product) and
// event (all other items). Both use jsonscan to read and write JSON, and the types of discard to
// report problems.
//
// Three rules apply throughout. Payloads of real SDKs are accepted, even if they violate the
// specification. A bad item is a value and a bad stream is an error, each with a stable Reason.
// Every limit has a name and a rationale (limits.go).
//
// Nothing here blocks, logs, or reads a clock.
package sentry
