// SPDX-License-Identifier: Apache-2.0

// Package sentry knows what Sentry SDKs put on the wire, and nothing of OpenTelemetry: it imports only the standard
// library. Translation to OTLP is the business of internal/translate, HTTP that of the components.
//
// A request goes through it in this order, and what is sent to Sentry in the opposite one:
//
//	Authenticate    who sends          auth.go, dsn.go        https://develop.sentry.dev/sdk/foundations/transport/authentication/
//	ReadEnvelope    items              envelope.go            https://develop.sentry.dev/sdk/foundations/transport/envelopes/
//	AppendEnvelope  its inverse        envelope_writer.go
//	AppendChunk, …  the payloads       chunk_writer.go, transaction_writer.go, span_writer.go, by json_append.go; outgoing.go
//	ItemType        what an item is    item.go                https://develop.sentry.dev/sdk/foundations/transport/envelope-items/
//	Decoder         profile to model   decode.go              https://develop.sentry.dev/sdk/telemetry/profiles/
//	Decode…         the other items    transaction.go, span_container.go, log.go, error_event.go, trace_metric.go, session.go, …
//	Broken          model against the published rules         validate.go
//	RateLimit       what to stop       ratelimit.go           https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
//
// The models of profiles are profile.go (sample format V1) and chunk.go (V2) with what they share: sampled.go, frame.go,
// measurement.go, debugmeta.go; decode_*.go fill them, the hot path of the product. The models of the other items have
// their decoding beside them, by loose.go, where a field of the wrong type costs itself only; container.go is what lists of
// spans, logs and metrics have in common. Underneath: scan.go walks JSON, scalar.go holds the scalars that SDKs write in
// more than one way, envelope_header.go and header_json.go are the headers of envelopes.
//
// Three rules hold throughout. What real SDKs send is accepted, whatever the specification says of it. A bad item is a
// value and a bad stream is an error, each with a Reason that is a stable name (discard.go has those of profiles). And
// every limit has a name and an argument (limits.go).
//
// Nothing here blocks, logs, or reads a clock.
package sentry
