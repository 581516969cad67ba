// SPDX-License-Identifier: Apache-2.0

// Package fastgzipextension is a collector extension (component type "fast_gzip") that compresses
// the requests of HTTP exporters, as a middleware of their clients. The exporters' own gzip, of the
// standard library, is slower (docs/performance.md, Compress).
package fastgzipextension
