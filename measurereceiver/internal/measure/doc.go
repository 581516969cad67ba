// SPDX-License-Identifier: Apache-2.0

// Package measure implements the wire format of Measure's SDKs (measure.sh). It has no knowledge of
// OpenTelemetry: internal/translate maps the format to OTLP, and measurereceiver does HTTP.
//
// A request passes through the following steps:
//
//	APIKey           the key                         key.go
//	DecodeJSON       a batch of events and spans     batch.go
//	DecodeMultipart  the same from older SDKs        multipart.go
//	Batch.Validate   against the published rules     validate.go, validate_event.go, validate_payload.go, validate_span.go
//
// event.go, attributes.go and span.go are the models, with the payloads of events in exception.go,
// usage.go, interaction.go and lifecycle.go. scalar.go has the scalars that SDKs write in several
// forms; cost.go and limits.go bound the memory of a body. config.go has the response to GET
// /config, build.go the body of PUT /builds, upload.go file types and their responses.
//
// The rules are those of the backend at measure-sh/measure cad4ddf4 (2026-08-21). They differ from
// the published document in places: SDKs and the backend are authoritative.
//
// Nothing here blocks, logs, or reads a clock.
package measure
