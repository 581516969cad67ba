// SPDX-License-Identifier: Apache-2.0

// Package symbols lets the built collector index and use 1 GiB of symbol files, and measures its
// memory and its rate: `make symbols`.
package symbols
