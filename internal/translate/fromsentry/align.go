// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Alignment is why the times of a V1 profile have to be moved to be compared with those of its transaction's spans.
type Alignment string

// The alignments.
const (
	NotAligned           Alignment = ""
	AlignedRelativeStart Alignment = "relative_start" // the profile says where in it the transaction starts
	AlignedCutAnchor     Alignment = "cut_anchor"     // ruby's anchors are whole seconds: samples lie up to a second too early
	AlignedLateAnchor    Alignment = "late_anchor"    // python 1.15 sends the end of the transaction as the start of the profile
)

// Align says by how many nanoseconds, and why. The profile keeps its times; this is for linking its samples to spans.
func Align(anchor jsonscan.Timestamp, relativeStart jsonscan.Uint, transactionStart, transactionEnd jsonscan.Timestamp) (int64, Alignment) {
	why, into := NotAligned, int64(0)
	switch {
	case !anchor.Set || !transactionStart.Set:
	case relativeStart.Set && relativeStart.Value > 0 && relativeStart.Value <= math.MaxInt64:
		why, into = AlignedRelativeStart, int64(relativeStart.Value)
	case anchor.WholeSeconds:
		why = AlignedCutAnchor
	case transactionEnd.Set && anchor.UnixNano >= transactionEnd.UnixNano:
		why = AlignedLateAnchor
	}
	by := int64(transactionStart.UnixNano) - into - int64(anchor.UnixNano)
	if why == NotAligned || by == 0 {
		return 0, NotAligned
	}
	return by, why
}
