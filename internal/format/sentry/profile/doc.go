// SPDX-License-Identifier: Apache-2.0

// Package profile decodes Sentry's sampled profiles, V1 and V2, into columns, validates them
// against Sentry's published rules, and writes V2 chunks.
//
// profile.go (V1) and chunk.go (V2) are the models, with their common parts in sampled.go,
// frame.go, measurement.go and debugmeta.go. decode_*.go fill them, validate.go has the rules, and
// chunk_writer.go is the inverse of the decoder.
package profile
