// SPDX-License-Identifier: Apache-2.0

// Package measurereceiver receives data from the SDKs of Measure (measure.sh; component type
// "measure"). It responds as Measure's backend does, and sends usable data to the pipelines as
// OTLP.
//
// The package has no format knowledge: internal/measure knows batches, internal/frommeasure maps
// them to OTLP. A request passes through these files:
//
//	handler.go    the table of endpoints, body
//	apps.go       authentication
//	events.go     PUT /events: batch → deliveries → outcomes
//	uploads.go    PUT /attachments and /symbols: files, by signed URLs
//	profiles.go   stored method traces → profiles
//	announced.go  event attributes of announced files
//	slots.go      concurrent uploads
//	token.go      signatures of the URLs
//	files.go      storage of files
//	builds.go     PUT /builds, PUT /builds/ota
//	mappings.go   mapping files by build and debug ID
//	response.go   status and body
//	telemetry.go  metrics
//	receiver.go   lifecycle
//
// The collector creates one receiver per signal. Receivers with the same *Config share one
// listener.
package measurereceiver
