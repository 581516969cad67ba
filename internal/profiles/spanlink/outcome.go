// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Policy states how to link ambiguous observations.
type Policy string

const (
	// Skip leaves them without a link.
	Skip Policy = "skip"
	// Innermost links them to the candidate that started last or, if several did, to the one of
	// these that ended first.
	Innermost Policy = "innermost"
)

// Validate returns an error that lists the valid policies.
func (p Policy) Validate() error {
	if p != Skip && p != Innermost {
		return fmt.Errorf("is %q, must be %q or %q", p, Skip, Innermost)
	}
	return nil
}

// Options are the settings for linking one message.
type Options struct {
	Now       time.Time
	Tenant    string // of the message, from its credentials
	Ambiguous Policy
	Work      *int64 // is increased by the work, in units of about 100 ns, if it is not nil
	// Memory is the memory for linking, in addition to the message and the result; 0 means
	// MaxMemory. It limits the work, and a message whose samples alone need more is not linked.
	Memory int64
	// Shift is added to sample times before they are compared with span times. The samples keep
	// their times.
	Shift int64
	// Early states that the message waited for its spans for less than the configured time.
	Early bool

	// Session is the session of all samples. If it is zero, the attributes determine the session.
	Session Session
	// Thread is the thread of spans that state none, in addition to the sole thread of a profile;
	// "" if unknown.
	Thread string
	// KeepPayload keeps the original payload of profiles whose samples get links.
	KeepPayload bool
}

// Reason is the reason why an observation has no link.
type Reason int

// The reasons.
const (
	NoSession  Reason = iota // the profile states no session
	NoThread                 // the sample states no thread
	NoSpan                   // no span covered it
	Ambiguous                // several spans without a common ancestor covered it
	Late                     // no span covered it, and spans of that time had already expired
	Evicted                  // no span covered it, and spans of that time were evicted, the profile could not wait, or its message exceeds its limit of work
	Aggregated               // the sample has no timestamps; counted once per sample
	Attributes               // the sample has too many attributes to be split
	reasons
)

var reasonNames = [reasons]string{"no_session", "no_thread", "no_span", "ambiguous", "late", "evicted", "aggregated", "attributes"}

func (r Reason) String() string { return reasonNames[r] }

// LinkStats counts observations: the timestamps of samples, or one for a sample without timestamps.
type LinkStats struct {
	Linked   int64 // linked to a span that covers them
	Guessed  int64 // the same, although they were ambiguous
	Assumed  int64 // the same, to a span without a session
	Kept     int64 // had a link and kept it
	Unlinked [reasons]int64
}

// Reasons yields the reasons for missing links, with the number of observations.
func (s *LinkStats) Reasons(yield func(Reason, int64) bool) {
	for reason, count := range s.Unlinked {
		if count > 0 && !yield(Reason(reason), count) {
			return
		}
	}
}

// Add adds the counts of other.
func (s *LinkStats) Add(other LinkStats) {
	s.Linked += other.Linked
	s.Guessed += other.Guessed
	s.Assumed += other.Assumed
	s.Kept += other.Kept
	for i := range s.Unlinked {
		s.Unlinked[i] += other.Unlinked[i]
	}
}

// SpanStats counts spans by outcome.
type SpanStats struct {
	Indexed    int64 // by session and thread; a span is counted once per way to state the session
	Waiting    int64 // for their segment; counted again when the segment arrives
	Unstated   int64 // indexed by program and thread, because neither they nor their segment state the session
	NoSession  int64 // the same, but without a program
	Duplicates int64 // already in the index
	Unusable   int64 // without IDs
	Late       int64 // indexed, but started before the end of a profile of their session that was already linked
	Evicted    int64 // dropped because the index was full
	Expired    int64 // dropped because of their age
}

func (s SpanStats) since(before SpanStats) SpanStats {
	return SpanStats{
		Indexed: s.Indexed - before.Indexed, Waiting: s.Waiting - before.Waiting, Unstated: s.Unstated - before.Unstated,
		NoSession: s.NoSession - before.NoSession, Duplicates: s.Duplicates - before.Duplicates, Unusable: s.Unusable - before.Unusable,
		Late: s.Late - before.Late, Evicted: s.Evicted - before.Evicted, Expired: s.Expired - before.Expired,
	}
}

// Observations returns the number of observations of a message.
func Observations(p pprofile.Profiles) (n int64) {
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				for _, sample := range profile.Samples().All() {
					n += int64(max(1, sample.TimestampsUnixNano().Len()))
				}
			}
		}
	}
	return n
}
