// SPDX-License-Identifier: Apache-2.0

package transform

// Reason is the reason why observations were dropped. The values are stable: they are labels of a
// metric.
type Reason string

const (
	BrokenReference Reason = "broken_reference" // the profile refers to an entry that does not exist
	MalformedSample Reason = "malformed_sample" // the numbers of values and timestamps do not match
	InactiveThread  Reason = "inactive_thread"  // active_thread_only
	Idle            Reason = "idle"             // drop_idle
	Thread          Reason = "thread"           // threads
)

// Reasons has all reasons.
var Reasons = []Reason{BrokenReference, MalformedSample, InactiveThread, Idle, Thread}

// Losses has numbers of dropped observations by reason; nil for none.
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
