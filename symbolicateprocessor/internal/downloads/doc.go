// SPDX-License-Identifier: Apache-2.0

// Package downloads fetches symbol files in the background: scripts and their source maps from the
// servers of web applications, and debug information from debuginfod servers.
//
//	<hash of the tenant>/scripts/<hash of the URL>/script.js, script.js.map
//	<hash of the tenant>/debuginfo/ab/cdef…/debuginfo
//
// Senders of profiles choose the URLs and build IDs. Requests therefore only go to hosts that the
// configuration lists, also after redirects, and their number, duration and size are limited.
//
// The queue, the slots, the memory of failures and the store have a fair share for each tenant. The
// files serve all tenants, because their content comes from the servers of the operator.
package downloads
