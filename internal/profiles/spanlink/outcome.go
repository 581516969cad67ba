// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Policy is what becomes of ambiguous observations.
type Policy string

const (
	// Skip leaves them without a link.
	Skip Policy = "skip"
	// Innermost takes the candidate that started last, of those the one that ends first.
	Innermost Policy = "innermost"
)

// Validate says what is wrong with a policy.
func (p Policy) Validate() error {
	if p != Skip && p != Innermost {
		return fmt.Errorf("is %q, must be %q or %q", p, Skip, Innermost)
	}
	return nil
}

// Options are what linking one message depends on beside the index.
type Options struct {
	Now       time.Time
	Ambiguous Policy
	// Shift is added to the times of samples to compare them with those of spans. The samples keep theirs.
	Shift int64
	// Early says that the message had to go before its spans could come.
	Early bool

	// Session is that of all samples, whatever their attributes say; zero to go by these.
	Session Session
	// Thread is where spans ran that name none, beside the only thread of a profile; "" if that is not known.
	Thread string
	// KeepPayload leaves the original payload of profiles whose samples get links. It says nothing of links.
	KeepPayload bool
}

// Reason is why an observation has no link.
type Reason int

// The reasons.
const (
	NoSession  Reason = iota // the profile does not say which session it is of
	NoThread                 // the sample does not say which thread it is of
	NoSpan                   // no span covered it
	Ambiguous                // several spans did
	Late                     // no span covered it, and some of that time had already left the index because of their age
	Evicted                  // no span covered it, and some of that time had to leave a full index, the profile could not wait, or its message is too much
	Aggregated               // the sample has no timestamps. Counted once for each such sample
	Attributes               // the sample has too many attributes to be split
	reasons
)

var reasonNames = [reasons]string{"no_session", "no_thread", "no_span", "ambiguous", "late", "evicted", "aggregated", "attributes"}

func (r Reason) String() string { return reasonNames[r] }

// LinkStats counts observations: the timestamps of samples, or one for a sample without any.
type LinkStats struct {
	Linked   int64 // to a span that covers them
	Guessed  int64 // likewise, although they were ambiguous
	Assumed  int64 // likewise, to a span that states no session
	Kept     int64 // have the link that they came with
	Unlinked [reasons]int64
}

// Reasons lists why observations have no link, with how many.
func (s *LinkStats) Reasons(yield func(Reason, int64) bool) {
	for reason, count := range s.Unlinked {
		if count > 0 && !yield(Reason(reason), count) {
			return
		}
	}
}

// Add adds up.
func (s *LinkStats) Add(other LinkStats) {
	s.Linked += other.Linked
	s.Guessed += other.Guessed
	s.Assumed += other.Assumed
	s.Kept += other.Kept
	for i := range s.Unlinked {
		s.Unlinked[i] += other.Unlinked[i]
	}
}

// Observations counts those of a message.
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
