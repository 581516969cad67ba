// SPDX-License-Identifier: Apache-2.0

// Package symbolicateprocessor is a collector processor (component type "symbolicate") that
// replaces minified names, positions and addresses in profiles and exceptions with those of the
// source code, using symbol files from a directory.
//
// The package is a shell; symbolicateprocessor/internal/symbols reads symbol files,
// symbolicateprocessor/internal/symbolicate edits profiles, and
// symbolicateprocessor/internal/exceptions edits exceptions:
//
//	processor.go  signals: look up, write, forward
//	hold.go       messages that wait for their files, and for the next component
//	files.go      looks up open files, and opens others in the background; lookups never wait
//	queue.go      the files to open, with turns for tenants
//	open.go       open files in memory, with shares for tenants
//	catalog.go    the files of the directory; finds JavaScript by debug ID and by path
//	measure.go    the files of apps, in the directory of the measure receiver
//	mappings.go   finds ProGuard mappings
//	objects.go    finds native files
//	indexes.go    indexes of native files, on disk
//	downloads.go  downloads of missing files; requests are in internal/downloads
//	uploads.go    the endpoint for sentry-cli; the API is in internal/uploads
//	telemetry.go  metrics
package symbolicateprocessor
