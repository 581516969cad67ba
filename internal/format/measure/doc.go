// SPDX-License-Identifier: Apache-2.0

// Package measure knows what the SDKs of Measure (measure.sh) put on the wire, and nothing of OpenTelemetry. Translation to OTLP
// is the business of internal/translate, HTTP that of measurereceiver.
//
// A request goes through it in this order:
//
//	APIKey           who sends                       key.go
//	DecodeJSON       a batch of events and spans     batch.go
//	DecodeMultipart  the same from older SDKs        multipart.go
//	Batch.Validate   against the published rules     validate.go, validate_event.go, validate_payload.go, validate_span.go
//
// The models are event.go with its payloads (exception.go, usage.go, interaction.go, lifecycle.go), attributes.go and span.go;
// scalar.go holds the scalars that SDKs write in more than one way, cost.go and limits.go bound what a body may take.
// Beside them: config.go is what GET /config answers, build.go what PUT /builds takes, upload.go the file types and their
// answers, all of it in the words of the protocol.
//
// The rules are those of the backend at measure-sh/measure cad4ddf4 (2026-08-21), which differ from the published document
// in places: where they do, what SDKs send and the backend takes counts.
//
// Nothing here blocks, logs, or reads a clock.
package measure
