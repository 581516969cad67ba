// SPDX-License-Identifier: Apache-2.0

// Package exception reads and writes the exceptions of log records and span events.
//
// # Two forms
//
// OpenTelemetry's conventions state an exception as texts: exception.type, exception.message,
// exception.stacktrace. Symbolication replaces type and stack, and keeps those that the SDK
// reported under <key>.original.
//
// An event from Sentry also has everything that its SDK sent, as lists of maps with Sentry's own
// names: sentry.exceptions, sentry.threads and, for a message, sentry.stacktrace. They have
// Sentry's order (a cause before its effect). Only frames are reversed, because the innermost frame
// comes first everywhere in OTLP, except for trees: their frames refer to each other by position,
// and none is the innermost. Symbolication adds "symbolicated" to frames and exceptions; the raw
// names stay.
//
// # Clients
//
//	fromsentry             writes both forms
//	frommeasure            writes the texts; Measure's lists have other names (measure.exception.*)
//	toitems                lists → JSON, without texts (they repeat the lists) and names of symbol files
//	toissues, tosentry     texts; an issue has them as the SDK reported them. Sentry symbolicates both itself
//	symbolicateprocessor   lists → lists and texts; without lists, texts → texts
//	profileviewerexporter  lists with the names of symbol files; without lists, texts
//
// Only the viewer regards a record with a stack, but without type and message, as an exception: an
// issue would have no title.
//
//	texts.go    texts
//	lists.go    lists: writer, reader
//	json.go     lists as JSON
package exception
