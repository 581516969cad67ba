// SPDX-License-Identifier: Apache-2.0

// Package chunking splits profiles into profile chunks that Sentry's ingest accepts.
//
// splitter.go divides the observations of a profile into parts. samples.go builds the samples of a
// part, and payload.go writes it. halve.go splits a chunk that a server rejected as too large.
package chunking
