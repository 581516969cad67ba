// SPDX-License-Identifier: Apache-2.0

// Package uploads is the part of Sentry's API that sentry-cli uploads symbol files to: src/api and src/utils/chunks of getsentry/sentry-cli.
//
//	GET  /api/0/organizations/{org}/chunk-upload/               limits and the address for chunks
//	POST /api/0/organizations/{org}/chunk-upload/               chunks of files, named by SHA-1
//	POST /api/0/projects/{org}/{project}/files/difs/assemble/   chunks → a native file, or an R8 mapping
//	POST /api/0/organizations/{org}/artifactbundle/assemble/    chunks → a zip of JavaScript files and source maps
//
// Assembling answers which chunks are missing; the client uploads them, and asks again. Releases are accepted, because builds create them, and are
// not stored.
//
//	chunks/ab/abcdef…         until their file is assembled
//	files/abcdef…/<name>      by SHA-1; the name of an R8 mapping is its UUID
//	bundles/abcdef…/<path>    the content of a zip, and its list of files
//
// A file is identified by its content; only R8 mappings have a UUID that the client chooses.
package uploads
