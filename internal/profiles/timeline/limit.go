// SPDX-License-Identifier: Apache-2.0

package timeline

import "errors"

// MaxExportedFrames is how many frames all samples of an export may have together. A message names a deep stack in a few bytes
// as often as it likes, and formats without shared stacks write it out each time. A minute of the busiest recording has a
// million; at 20 million a file is some 100 MB and no tool opens it with pleasure.
const MaxExportedFrames = 20_000_000

// MaxExportedEntries is how many functions, or places in them, an export may have of all its profiles together.
const MaxExportedEntries = 1 << 20

// ErrTooLarge says that a view or an export would have more than MaxExportedFrames, or more of anything else than fits.
var ErrTooLarge = errors.New("more than one view or file may have: select a thread, a span or a shorter time")
