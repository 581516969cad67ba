// SPDX-License-Identifier: Apache-2.0

// Package symbolicateprocessor is a collector processor (component type "symbolicate") that replaces minified names, places and addresses in
// profiles and exceptions by those of the source, with symbol files from a directory.
//
// The package is a shell; internal/format/symbols reads symbol files, internal/profiles/symbolicate edits profiles, and
// internal/translate/exceptions edits exceptions:
//
//	processor.go  signals: look up, write, forward
//	files.go      open files in memory, and the queue of files to open; lookups never wait
//	catalog.go    which files the directory has; JavaScript by debug ID and by path
//	mappings.go   how ProGuard mappings are found
//	objects.go    how native files are found
//	indexes.go    indexes of native files, on disk
//	uploads.go    the endpoint for sentry-cli; the API is in internal/uploads
//	telemetry.go  metrics
package symbolicateprocessor
