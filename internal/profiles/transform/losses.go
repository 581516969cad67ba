// SPDX-License-Identifier: Apache-2.0

package transform

// Reason says why observations are gone. The names are stable: they are labels of a metric.
type Reason string

const (
	BrokenReference Reason = "broken_reference" // the profile refers to what its message does not hold
	MalformedSample Reason = "malformed_sample" // values and timestamps that do not match in number
	InactiveThread  Reason = "inactive_thread"  // active_thread_only
	Idle            Reason = "idle"             // drop_idle
	Thread          Reason = "thread"           // threads
)

// Reasons are all reasons.
var Reasons = []Reason{BrokenReference, MalformedSample, InactiveThread, Idle, Thread}

// Losses are numbers of observations by the reason for which they were dropped; nil if none was.
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
