// SPDX-License-Identifier: Apache-2.0

package timeline

import "errors"

// MaxExportedFrames is the maximum number of frames in all samples of an export. A message can
// refer to a deep stack many times in few bytes, but formats without shared stacks repeat its
// frames. A minute of the busiest recording has a million frames. A file with 20 million has about
// 100 MB and is slow to open.
const MaxExportedFrames = 20_000_000

// MaxExportedEntries is the maximum number of functions, and of locations, of all profiles of an
// export.
const MaxExportedEntries = 1 << 20

// ErrNegative is the error of views and exports that show weights as widths or durations.
var ErrNegative = errors.New("values are negative, as in differences of profiles: only pprof, firefox and OTLP files show them")

// ErrTooLarge is the error of a view or an export that exceeds a limit.
var ErrTooLarge = errors.New("the selection is too large: select a thread, a span or a shorter time")
