// SPDX-License-Identifier: Apache-2.0

// Package uploads implements the part of Sentry's API to which sentry-cli uploads symbol files; see
// src/api and src/utils/chunks in getsentry/sentry-cli.
//
//	GET  /api/0/organizations/{org}/chunk-upload/               limits and the address for chunks
//	POST /api/0/organizations/{org}/chunk-upload/               chunks of files, named by SHA-1
//	POST /api/0/projects/{org}/{project}/files/difs/assemble/   chunks → a native file, or an R8 mapping
//	POST /api/0/organizations/{org}/artifactbundle/assemble/    chunks → a zip of JavaScript files and source maps
//
// The response to an assemble request lists the missing chunks; the client uploads them and asks
// again. Releases are accepted, because builds create them, but not stored.
//
//	chunks/ab/abcdef…         chunks, until their file is assembled
//	files/abcdef…/<name>      files by SHA-1; the name of an R8 mapping is its UUID
//	bundles/abcdef…/<path>    the content of a zip, and the list of its files
//
// Files are identified by their content, except for R8 mappings: the client chooses their UUID.
package uploads
