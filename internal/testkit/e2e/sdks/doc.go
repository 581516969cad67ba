// SPDX-License-Identifier: Apache-2.0

// Package sdks runs real SDKs against the collector: `make sdks` writes docs/compatibility.md. Each
// folder is a workload for the SDKs of one language.
package sdks
