// SPDX-License-Identifier: Apache-2.0

// Package hostile attacks the collector and bounds its memory, time and output: `make attacks`
// writes docs/attacks.md. CI runs the same attacks in small sizes.
package hostile
