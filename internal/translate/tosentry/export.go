// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// ExportOptions is what the way back to Sentry depends on beside the data: configuration. The zero value works, but for SDK.
type ExportOptions struct {
	SDK sentry.ClientSDK // this collector: named as the SDK of data that name none. Both fields must be set

	// MaxItemBytes is how large the payload of an item may be, if that is less than Sentry takes; 0 = as large as Sentry takes.
	MaxItemBytes int

	// ProfilerIDAttributes are the resource attributes that a profiler id is made of where the data name none. nil =
	// DefaultProfilerIDAttributes. Where they identify no process, processAttributes complete them. Profiles and traces must be
	// exported with the same ones.
	ProfilerIDAttributes []string

	// Profiled says that profiles of the same processes are exported too: a span that names no profiler session is then tied to
	// the one whose id is made of its resource. Without profiles, Sentry would show a link to nothing.
	Profiled bool

	// WallSessions says that spans name the sessions of wall-clock profiles, not those of CPU profiles.
	WallSessions bool

	// SpansOnly sends every span in a container (span v2), none in transactions.
	SpansOnly bool
}

// atMost is how large an item may be of which Sentry takes so many bytes.
func (o *ExportOptions) atMost(taken int) int {
	if o.MaxItemBytes <= 0 {
		return taken
	}
	return min(o.MaxItemBytes, taken)
}

// Outgoing is an item that is ready to be sent, alone in its envelope. It is a pure function of the message and of the options:
// translating the same message again, after a crash, gives the same items with the same ids.
//
// Item.Header has the type, and the platform of a chunk; len(Item.Payload) is the size in bytes, not compressed;
// sentry.LimitedBy gives the rate limits that stop it.
type Outgoing struct {
	sentry.Item

	// EventID is for the header of the envelope; "" = none.
	EventID string
	// Trace is for the header of the envelope, where the sender adds its public key; nil = none. Span containers need it.
	Trace *sentry.DynamicSamplingContext
	// Count is how much of the message is in the item: observations of a profile, or spans.
	Count int
}

// Export is what became of a message.
type Export struct {
	Items []Outgoing
	// Lost counts what could not be sent, by a stable reason: observations of profiles (the samples that have no timestamps
	// count as one each), spans, and events of spans.
	Lost []discard.Loss
	// Flaws count what was left out of items that are sent: images, measurements, references to nowhere.
	Flaws []discard.Flaw
	// Clocks says of which kinds the profiles were whose profiler sessions are made of their resource.
	Clocks attr.Clocks
}

func (e *Export) lose(reason discard.Reason, count int) {
	if count == 0 {
		return
	}
	for i := range e.Lost {
		if e.Lost[i].Reason == reason {
			e.Lost[i].Count += count
			return
		}
	}
	e.Lost = append(e.Lost, discard.Loss{Reason: reason, Count: count})
}

func (e *Export) flaw(field string, count int) {
	if count == 0 {
		return
	}
	for i := range e.Flaws {
		if e.Flaws[i].Field == field {
			e.Flaws[i].Count += count
			return
		}
	}
	e.Flaws = append(e.Flaws, discard.Flaw{Field: field, Count: count})
}
