// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Alignment is the reason why the times of a V1 profile do not match those of its transaction's
// spans.
type Alignment string

// The alignments.
const (
	NotAligned           Alignment = ""
	AlignedRelativeStart Alignment = "relative_start" // the profile states the offset at which the transaction starts
	AlignedCutAnchor     Alignment = "cut_anchor"     // Ruby truncates anchors to whole seconds, so samples are up to a second too early
	AlignedLateAnchor    Alignment = "late_anchor"    // Python 1.15 sends the end of the transaction as the start of the profile
)

// Align returns the nanoseconds to add to the times of a profile before its samples are linked to
// spans, and the reason. The profile itself keeps its times.
func Align(anchor jsonscan.Timestamp, relativeStart jsonscan.Uint, transactionStart, transactionEnd jsonscan.Timestamp) (int64, Alignment) {
	why, offset := NotAligned, int64(0)
	switch {
	case !anchor.Set || !transactionStart.Set:
	case relativeStart.Set && relativeStart.Value > 0 && relativeStart.Value <= math.MaxInt64:
		why, offset = AlignedRelativeStart, int64(relativeStart.Value)
	case anchor.WholeSeconds:
		why = AlignedCutAnchor
	case transactionEnd.Set && anchor.UnixNano >= transactionEnd.UnixNano:
		why = AlignedLateAnchor
	}
	by := int64(transactionStart.UnixNano) - offset - int64(anchor.UnixNano)
	if why == NotAligned || by == 0 {
		return 0, NotAligned
	}
	return by, why
}
