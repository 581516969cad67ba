// SPDX-License-Identifier: Apache-2.0

// Package golden supports tests: it walks testdata/cases and the corpus of recorded requests, and
// prints OTLP messages as readable text. It shares no code with the translation, so a bug in one
// cannot hide in the other.
package golden
