// SPDX-License-Identifier: Apache-2.0

// Package downloads fetches symbol files in the background: scripts and their source maps from the
// servers of web applications, and debug information from debuginfod servers.
//
//	scripts/<hash of the URL>/script.js, script.js.map
//	debuginfo/ab/cdef…/debuginfo
//
// Senders of profiles choose the URLs and build IDs. Requests therefore only go to hosts that the
// configuration lists, also after redirects, and their number, duration and size are limited.
package downloads
