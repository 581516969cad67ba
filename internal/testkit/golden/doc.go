// SPDX-License-Identifier: Apache-2.0

// Package golden is test support: it walks testdata/cases and the corpus of recorded requests, and says in words what OTLP
// messages hold. It shares no code with the translation, so that the two can disagree.
package golden
