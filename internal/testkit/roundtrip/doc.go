// SPDX-License-Identifier: Apache-2.0

// Package roundtrip tests that nothing of a recorded request is lost on its way through OTLP,
// except the data that docs/mapping.md lists. The tests beside the translations compare decoded
// items; this one compares JSON, so it also finds members that no decoder reads.
package roundtrip
