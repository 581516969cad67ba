// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"errors"
	"fmt"
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

// itemTypes lists the item types that are translated. Items of other types are accepted, counted
// and dropped.
var itemTypes = map[sentry.ItemType]itemType{
	sentry.ItemProfile:        {profilesOrMetrics, unlimited, (*translation).profile}, // profiles.go
	sentry.ItemProfileChunk:   {profilesOrMetrics, unlimited, (*translation).profile},
	sentry.ItemProfileChunkUI: {profilesOrMetrics, unlimited, (*translation).profile},

	sentry.ItemTransaction: {onlyTraces, limited, (*translation).transaction}, // traces.go
	sentry.ItemSpan:        {onlyTraces, limited, (*translation).spans},

	sentry.ItemEvent:           {onlyLogs, limited, (*translation).event}, // logs.go
	sentry.ItemLog:             {onlyLogs, limited, (*translation).logs},
	sentry.ItemFeedback:        {onlyLogs, limited, (*translation).feedback},
	sentry.ItemUserReport:      {onlyLogs, limited, (*translation).userReport},
	sentry.ItemCheckIn:         {logsOrMetrics, limited, (*translation).checkIn},
	sentry.ItemAttachment:      {onlyLogs, unlimited, (*translation).describe},
	sentry.ItemReplayEvent:     {onlyLogs, unlimited, (*translation).describe},
	sentry.ItemReplayRecording: {onlyLogs, unlimited, (*translation).describe},
	sentry.ItemReplayVideo:     {onlyLogs, unlimited, (*translation).describe},
	sentry.ItemRawSecurity:     {onlyLogs, unlimited, (*translation).describe},
	sentry.ItemSecurity:        {onlyLogs, unlimited, (*translation).describe},
	sentry.ItemNel:             {onlyLogs, unlimited, (*translation).describe},

	sentry.ItemTraceMetric:  {onlyMetrics, limited, (*translation).traceMetrics}, // metrics.go
	sentry.ItemSession:      {onlyMetrics, limited, (*translation).session},
	sentry.ItemSessions:     {onlyMetrics, limited, (*translation).sessions},
	sentry.ItemClientReport: {onlyMetrics, limited, (*translation).clientReport},
}

// itemType describes how items of one type are translated.
type itemType struct {
	signals   []pipeline.Signal // of the deliveries, in order
	limited   bool              // the size is limited to ItemType.MaxSize
	translate func(*translation, *sentry.Item) translated
}

// Values of itemType.limited. Profiles have a configured limit instead, and described items are not
// decoded.
const (
	limited   = true
	unlimited = false
)

var (
	profilesOrMetrics = []pipeline.Signal{pipeline.SignalProfiles, pipeline.SignalMetrics}
	onlyTraces        = []pipeline.Signal{pipeline.SignalTraces}
	onlyLogs          = []pipeline.Signal{pipeline.SignalLogs}
	logsOrMetrics     = []pipeline.Signal{pipeline.SignalLogs, pipeline.SignalMetrics}
	onlyMetrics       = []pipeline.Signal{pipeline.SignalMetrics}
)

// oversize returns an error for an item that is too large to be decoded.
func (t itemType) oversize(item *sentry.Item) *discard.Error {
	if !t.limited || len(item.Payload) <= item.Header.Type.MaxSize() {
		return nil
	}
	return &discard.Error{Reason: jsonscan.ReasonTooLarge,
		Detail: fmt.Sprintf("%s of %d bytes, at most %d", item.Header.Type, len(item.Payload), item.Header.Type.MaxSize())}
}

// translation translates the items of one envelope. It does no I/O: its results contain the
// messages to deliver and the losses to count.
type translation struct {
	cfg      *Config
	has      func(pipeline.Signal) bool // reports whether the signal has a pipeline
	envelope *sentry.Envelope
	source   fromsentry.Source
	received time.Time

	transactionStart  func() jsonscan.Timestamp // of the envelope's transaction, decoded once and only if needed
	profiles          int                       // number of usable profiles so far
	profileID         string                    // of the delivered V1 profile
	spareObservations int                       // of Android traces, see attr.SpareObservations
	unlinked          []unlinked                // V1 profiles
	links             []link                    // not counted yet
	foreignThreads    int                       // number of spans on threads that are not in the Android trace
}

// translated is the translation of one item.
type translated struct {
	deliveries []*delivery    // the first one decides the outcome of the item
	unusable   *discard.Error // the reason if there are no deliveries
	weight     int64          // memory of the deliveries; 0 = not measured

	// Losses to count.
	samples   []discard.Loss
	elements  []discard.Loss
	fields    []discard.Flaw
	tolerated []string // names of broken rules
}

func newTranslation(r *sentryReceiver, envelope *sentry.Envelope, auth sentry.Auth, from *project, received time.Time) *translation {
	t := &translation{cfg: r.cfg, has: r.pipelines.Has, envelope: envelope, received: received, spareObservations: attr.SpareObservations}
	drift := driftOf(envelope, received, r.cfg.CorrectClockDrift)
	t.source = fromsentry.Source{
		ProjectID:    auth.ProjectID,
		SDK:          sdkOf(&envelope.Header, auth),
		ReceivedNano: uint64(received.UnixNano()),
		PeriodType:   r.cfg.ProfileType,
		EventID:      envelope.Header.EventID,
		IncludePII:   r.cfg.IncludePII,

		ClockDriftMilli: drift.milli,
		CorrectDrift:    drift.correct,
		Resource:        from.resource,
	}
	if trace := envelope.Header.Trace; trace != nil {
		t.source.Release, t.source.Environment = trace.Release, trace.Environment
	}
	t.transactionStart = sync.OnceValue(t.decodeTransactionStart)
	return t
}

func (t *translation) strict() bool { return t.cfg.Validation == profile.Strict }

// unusable returns the translation of an item that cannot be used.
func unusable(err error) translated { return translated{unusable: discardOf(err)} }

func discardOf(err error) *discard.Error {
	if discard, ok := errors.AsType[*discard.Error](err); ok {
		return discard
	}
	return &discard.Error{Reason: discard.ReasonInvalidJSON, Detail: err.Error()}
}

// one returns the deliveries of an item that becomes one message.
func one(m pipeline.Message, ids ...dedup.ID) []*delivery { return []*delivery{{message: m, ids: ids}} }

// transactionItem returns the transaction of the envelope, nil if there is none.
func (t *translation) transactionItem() *sentry.Item {
	i := slices.IndexFunc(t.envelope.Items, func(i sentry.Item) bool { return i.Header.Type == sentry.ItemTransaction })
	if i < 0 {
		return nil
	}
	return &t.envelope.Items[i]
}

// decodeTransactionStart returns the start of the envelope's transaction, unset if it is missing.
func (t *translation) decodeTransactionStart() jsonscan.Timestamp {
	transaction := t.transactionItem()
	if transaction == nil || len(transaction.Payload) > transaction.Header.Type.MaxSize() {
		return jsonscan.Timestamp{}
	}
	start, _ := event.TransactionTimes(transaction.Payload)
	return start
}
