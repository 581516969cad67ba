// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// Settings are the settings of the receiver that change the translation.
type Settings struct {
	Validation          profile.Validation
	ProfileType         string
	MaxProfileSize      int64
	KeepOriginalPayload bool
	IncludePII          bool
	CorrectClockDrift   bool
	PointAttributes     []string // see fromsentry.Source
	Identify            bool     // state the IDs of deliveries, to recognize duplicates
}

// DefaultSettings returns the settings of a receiver without configuration.
func DefaultSettings() Settings {
	return Settings{Validation: profile.Lenient, ProfileType: "wall", MaxProfileSize: sentry.MaxProfileSize}
}

// Sender is the origin of an envelope, by its credentials and the configuration of its project.
type Sender struct {
	ProjectID string
	PublicKey string
	SDK       sentry.ClientSDK       // of the envelope header or the credentials
	Known     attr.Identity          // that the client has stated before; zero = not known
	KnownIn   fromsentry.KnownIn     // see Source
	Address   string                 // "" = not known
	UserAgent string                 // of the request
	Resource  []fromsentry.Attribute // of the configuration
}

// Translation translates the items of one envelope. It does no I/O: its results contain the
// messages to deliver and the losses to count.
type Translation struct {
	settings Settings
	has      func(pipeline.Signal) bool // reports whether the signal has a pipeline
	envelope *sentry.Envelope
	source   fromsentry.Source

	stated   attr.Identity // see Stated
	identity identity
	linkKeys linkKeys
	v1Links

	claim             func(bytes int64) error   // see Claim
	transactionStart  func() jsonscan.Timestamp // of the envelope's transaction, decoded once and only if needed
	profiles          int                       // number of usable profiles so far
	profileID         string                    // of the delivered V1 profile
	spareObservations int                       // of Android traces, see attr.SpareObservations
}

// Result is the translation of one item.
type Result struct {
	Deliveries []Delivery     // the first one decides the outcome of the item
	Unusable   *discard.Error // the reason if there are no deliveries
	Weight     int64          // memory of the deliveries; 0 = not measured

	// Losses to count.
	Samples   []discard.Loss
	Elements  []discard.Loss
	Fields    []discard.Flaw
	Tolerated []string // names of broken rules
}

// Delivery is the output of an item for one signal.
type Delivery struct {
	Message  pipeline.Message
	LinkKey  string            // see link_key.go; "" for logs and metrics
	IDs      []dedup.ID        // to recognize duplicates; nil = never
	DropSeen func(seen []bool) // drops the parts with these IDs; nil = the output has no parts
}

// New returns the translation of an envelope for the signals that have a pipeline.
func New(envelope *sentry.Envelope, from Sender, settings Settings, has func(pipeline.Signal) bool, received time.Time) *Translation {
	t := &Translation{
		settings: settings, has: has, envelope: envelope, spareObservations: attr.SpareObservations,
		identity: identity{from.ProjectID, settings.Identify},
		linkKeys: linkKeys{publicKey: from.PublicKey, sdk: sentry.ClientSDK(envelope.Header.SDK)},
		v1Links:  v1Links{received: received, eventID: envelope.Header.EventID},
	}
	drift := driftOf(envelope, received, settings.CorrectClockDrift)
	t.source = fromsentry.Source{
		ProjectID: from.ProjectID,
		SDK:       sentry.ClientSDK(envelope.Header.SDK),
		ClientSDK: from.SDK,
		Known:     from.Known,
		KnownIn:   from.KnownIn,

		ClientAddress: from.Address,
		UserAgent:     from.UserAgent,

		ReceivedNano: uint64(received.UnixNano()),
		PeriodType:   settings.ProfileType,
		EventID:      envelope.Header.EventID,
		IncludePII:   settings.IncludePII,

		PointAttributes: settings.PointAttributes,

		ClockDriftMilli: drift.milli,
		CorrectDrift:    drift.correct,
		Resource:        from.Resource,
	}
	if trace := envelope.Header.Trace; trace != nil {
		t.source.Release, t.source.Environment = trace.Release, trace.Environment
		t.source.Trace = attr.TraceHeader{
			SampleRate: trace.SampleRate, SampleRand: trace.SampleRand, Sampled: trace.Sampled, ReplayID: trace.ReplayID, Transaction: trace.Transaction,
		}
	}
	t.source.Stated = func(id attr.Identity) { t.stated = id }
	t.completeKnown()
	t.transactionStart = sync.OnceValue(t.decodeTransactionStart)
	return t
}

// Claim sets a function that the translation of profiles calls before it needs more memory than
// fromsentry.Weight. If it returns an error, the item is unusable, with ReasonTooMuchMemory.
func (t *Translation) Claim(claim func(bytes int64) error) { t.claim = claim }

// reserve claims memory, see Claim.
func (t *Translation) reserve(bytes int64) *discard.Error {
	if t.claim == nil {
		return nil
	}
	if err := t.claim(bytes); err != nil {
		return discard.Errorf(discard.ReasonTooMuchMemory, "%s", err)
	}
	return nil
}

// Stated returns the identity that the last translated item stated. Its texts do not refer to the
// body.
func (t *Translation) Stated() attr.Identity { return t.stated }

// ServiceName returns the name of the service that the envelope is about, as far as it is known.
func (t *Translation) ServiceName() string { return t.source.ServiceName(t.stated) }

// completeKnown replaces the identity that the client stated earlier with that of an event or a
// transaction in the envelope.
func (t *Translation) completeKnown() {
	states := func(i sentry.Item) bool {
		return i.Header.Type == sentry.ItemTransaction || i.Header.Type == sentry.ItemEvent
	}
	of := slices.IndexFunc(t.envelope.Items, states)
	if of < 0 || !slices.ContainsFunc(t.envelope.Items, func(i sentry.Item) bool { return !states(i) }) {
		return
	}
	item := &t.envelope.Items[of]
	if len(item.Payload) > item.Header.Type.MaxSize() {
		return
	}
	head := event.ReadHead(item.Payload)
	stated := attr.Identity{
		Platform: head.Platform, Release: attr.FirstText(head.Release, t.source.Release), Dist: head.Dist,
		Environment: attr.FirstText(head.Environment, t.source.Environment), Sdk: head.SDK,
	}
	t.source.Known = stated.Cloned(t.source.Known)
}

func (t *Translation) strict() bool { return t.settings.Validation == profile.Strict }

// unusable returns the translation of an item that cannot be used.
func unusable(err error) Result { return Result{Unusable: discardOf(err)} }

func discardOf(err error) *discard.Error {
	if discard, ok := errors.AsType[*discard.Error](err); ok {
		return discard
	}
	return &discard.Error{Reason: jsonscan.ReasonMalformed, Detail: err.Error()}
}

// one returns the deliveries of an item that becomes one message.
func one(m pipeline.Message, ids ...dedup.ID) []Delivery { return []Delivery{{Message: m, IDs: ids}} }

// transactionItem returns the transaction of the envelope, nil if there is none.
func (t *Translation) transactionItem() *sentry.Item {
	i := slices.IndexFunc(t.envelope.Items, func(i sentry.Item) bool { return i.Header.Type == sentry.ItemTransaction })
	if i < 0 {
		return nil
	}
	return &t.envelope.Items[i]
}

// decodeTransactionStart returns the start of the envelope's transaction, unset if it is missing.
func (t *Translation) decodeTransactionStart() jsonscan.Timestamp {
	transaction := t.transactionItem()
	if transaction == nil || len(transaction.Payload) > transaction.Header.Type.MaxSize() {
		return jsonscan.Timestamp{}
	}
	return event.ReadHead(transaction.Payload).Start
}
