// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// V1 profiles are linked by the rule of package spanlink. A V1 profile and its transaction
// are in the same envelope, so linking needs neither state nor a traces pipeline.

// Unlinked is a V1 profile that waits for the spans of its transaction.
type Unlinked struct {
	Profiles      pprofile.Profiles
	transactionID string
	activeThread  string
	anchor        jsonscan.Timestamp
	relativeStart jsonscan.Uint
	threads       map[string]bool // of an Android profile; nil = spans state the same thread IDs
}

// Link is the result for one profile, for the metrics.
type Link struct {
	Alignment profile.Alignment
	Stats     spanlink.LinkStats
}

// v1Links links the V1 profiles of an envelope.
type v1Links struct {
	received       time.Time
	eventID        string     // of the envelope header
	unlinked       []Unlinked // so far
	links          []Link     // not counted yet
	foreignThreads int        // number of spans on threads that are not in the Android trace
}

// awaitSpans copies the data of a profile that linking needs, because strings of the profile are
// valid only until its decoder is released.
func (v *v1Links) awaitSpans(p *profile.Profile, trace *fromandroid.Trace, profiles pprofile.Profiles) {
	u := Unlinked{Profiles: profiles, anchor: p.Timestamp}
	if tx := p.Transaction; tx != nil {
		u.transactionID = strings.Clone(tx.ID)
		u.activeThread = strings.Clone(tx.ActiveThreadID.Text)
		u.relativeStart = tx.RelativeStartNS
	}
	if trace != nil {
		u.threads = trace.ThreadIDs()
		for _, thread := range p.Threads { // of the JavaScript profile
			u.threads[strings.Clone(thread.ID)] = true
		}
	}
	v.unlinked = append(v.unlinked, u)
}

// ReasonNoTransaction is the reason for missing links if the envelope has no usable transaction.
const ReasonNoTransaction = "no_transaction"

// v1Session is the session of all samples and spans of an envelope.
var v1Session = spanlink.Session{Parts: [...]string{"envelope", "", ""}}

// link links the V1 profiles of the envelope to the spans of a transaction.
func (v *v1Links) link(transaction *event.Transaction, spans ptrace.Traces) {
	if len(v.unlinked) == 0 {
		return
	}
	index := spanlink.NewIndex(spanlink.Sentry, spanlink.Limits{Spans: math.MaxInt, MaxAge: time.Hour})
	threads, main := v.androidThreads()
	index.Add(func(yield func(spanlink.Span) bool) {
		for span := range spanlink.Sentry.Spans(spans) {
			span.Tenant, span.Sessions, span.Program = v1Session.Tenant, []spanlink.Session{v1Session}, nil
			if threads != nil && span.Thread != "" && !threads[span.Thread] {
				span.Thread = main
				v.foreignThreads++
			}
			if !yield(span) {
				return
			}
		}
	}, v.received)
	v.unlinked = slices.DeleteFunc(v.unlinked, func(u Unlinked) bool {
		if !u.isOf(transaction, v.eventID) {
			return false
		}
		if transaction.Root != nil {
			u.stateThread(spans.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0))
		}
		shift, why := u.align(transaction.Root)
		v.links = append(v.links, Link{Alignment: why, Stats: index.Link(u.Profiles, spanlink.Options{
			Now: v.received, Ambiguous: spanlink.Skip, Shift: shift,
			Session: v1Session, Thread: u.activeThread, KeepPayload: true,
		})})
		return true
	})
}

// stateThread sets the profile's thread on the root span of its transaction, unless the span
// already has one. Sentry's flame graph uses it to find the profile of a transaction.
func (u *Unlinked) stateThread(root ptrace.Span) {
	if _, stated := root.Attributes().Get(semconv.ThreadID); !stated {
		attr.PutDecimal(root.Attributes(), semconv.ThreadID, attr.Clip(cmp.Or(u.activeThread, u.onlyThread()), attr.MaxIDBytes))
	}
}

// onlyThread returns the thread of all samples, or "" if there are several.
func (u *Unlinked) onlyThread() (id string) {
	view, only := dictionary.NewView(u.Profiles.Dictionary()), int32(0)
	for _, sample := range u.Profiles.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
		for _, i := range sample.AttributeIndices().All() {
			a, _ := view.Attribute(dictionary.AttributeIndex(i))
			switch {
			case a.Key != semconv.ThreadID || i == only:
			case only != 0:
				return ""
			default:
				only, id = i, a.Value.AsString()
			}
		}
	}
	return id
}

// androidThreads returns the threads and the active thread of the first Android profile. Spans on
// threads that are not in the profile are attributed to the active thread: some SDKs send Java
// thread IDs, but traces contain kernel thread IDs.
func (v *v1Links) androidThreads() (threads map[string]bool, active string) {
	for _, u := range v.unlinked {
		if u.threads != nil {
			return u.threads, u.activeThread
		}
	}
	return nil, ""
}

// TakeForeignThreads returns, and resets, the number of spans that were attributed to the active
// thread of an Android profile.
func (v *v1Links) TakeForeignThreads() (n int) {
	n, v.foreignThreads = v.foreignThreads, 0
	return n
}

// TakeLinks returns the results that are not counted yet, and the profiles without a transaction.
func (v *v1Links) TakeLinks() (links []Link, none []Unlinked) {
	links, none = v.links, v.unlinked
	v.links, v.unlinked = nil, nil
	return links, none
}

// isOf reports whether a profile belongs to a transaction. The PHP SDK sends the event ID only in
// the header.
func (u *Unlinked) isOf(t *event.Transaction, headerID string) bool {
	id := cmp.Or(t.EventID, headerID)
	return u.transactionID == "" || id == "" || attr.SameID(u.transactionID, id)
}

func (u *Unlinked) align(root *event.Span) (int64, profile.Alignment) {
	if root == nil {
		return 0, profile.NotAligned
	}
	return profile.Align(u.anchor, u.relativeStart, root.Start, root.End)
}
