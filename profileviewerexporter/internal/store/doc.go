// SPDX-License-Identifier: Apache-2.0

// Package store keeps the latest messages of all signals in memory, within limits of
// size and age.
//
// A message is stored as encoded OTLP, so its memory use is known exactly. A summary of it serves
// lists and lookups. Its content is decoded for the duration of one request.
//
//	store.go     limits, eviction, lookups by profile and by trace
//	message.go   messages, and the memory that they use
//	profiles.go traces.go logs.go metrics.go   message → summary
//	decode.go    stored message → OTLP
//	trace.go     the fragments of a trace, combined
//	operations.go  the operations of a service, and their samples
package store
