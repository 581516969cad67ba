// SPDX-License-Identifier: Apache-2.0

package transform

// Reason is the reason why observations were dropped. The values are stable, because a metric uses
// them as labels.
type Reason string

const (
	BrokenReference Reason = "broken_reference" // the profile refers to an entry that does not exist
	MalformedSample Reason = "malformed_sample" // the numbers of values and timestamps differ
	InactiveThread  Reason = "inactive_thread"  // active_thread_only
	Idle            Reason = "idle"             // drop_idle
	Thread          Reason = "thread"           // threads
)

// Reasons lists all reasons.
var Reasons = []Reason{BrokenReference, MalformedSample, InactiveThread, Idle, Thread}

// Losses is the number of dropped observations by reason; nil means none.
type Losses map[Reason]int

func (l *Losses) add(reason Reason, observations int) {
	if observations == 0 {
		return
	}
	if *l == nil {
		*l = Losses{}
	}
	(*l)[reason] += observations
}
