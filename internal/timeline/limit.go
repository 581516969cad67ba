package timeline

import "fmt"

// MaxExportedFrames is how many frames all samples of an export may have together. A message names a deep stack in a few bytes
// as often as it likes, and formats without shared stacks write it out each time. A minute of the busiest recording has a
// million; at 20 million a file is some 100 MB and no tool opens it with pleasure.
const MaxExportedFrames = 20_000_000

// ErrTooLarge says that an export would have more than MaxExportedFrames.
var ErrTooLarge = fmt.Errorf("more than %d frames in all samples together: select a thread, a span or a shorter time", MaxExportedFrames)
