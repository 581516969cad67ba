// SPDX-License-Identifier: Apache-2.0

// Package replay derives new requests from recorded ones, and sends them: with new IDs, and with times
// that end now. A request is the text of an envelope, or of a message in OTLP's JSON.
//
//	fresh.go     requests of one run of an SDK belong together
//	ids.go       new IDs
//	times.go     current times
//	perfetto.go  times in Perfetto traces
//	send.go      HTTP requests to a DSN, and to OTLP endpoints
package replay
