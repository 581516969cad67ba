// SPDX-License-Identifier: Apache-2.0

// Package replay derives new requests from recorded ones and sends them. New requests have new IDs
// and current times. A request is the text of an envelope, or of an OTLP message in JSON.
//
//	fresh.go     requests of one run of an SDK belong together
//	ids.go       new IDs
//	times.go     current times
//	perfetto.go  times in Perfetto traces
//	send.go      HTTP requests to a DSN, and to OTLP endpoints
package replay
