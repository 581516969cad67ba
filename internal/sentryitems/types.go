// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"fmt"
	"iter"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// Types lists the item types that are translated. Items of other types are accepted, counted
// and dropped.
var Types = map[sentry.ItemType]Type{
	sentry.ItemProfile:        {profilesOrMetrics, unlimited, translateProfile}, // profiles.go
	sentry.ItemProfileChunk:   {profilesOrMetrics, unlimited, translateProfile},
	sentry.ItemProfileChunkUI: {profilesOrMetrics, unlimited, translateProfile},

	sentry.ItemTransaction: {onlyTraces, limited, translateTransaction}, // traces.go
	sentry.ItemSpan:        {onlyTraces, limited, translateSpans},

	sentry.ItemEvent:           {onlyLogs, limited, translateEvent}, // logs.go
	sentry.ItemLog:             {onlyLogs, limited, translateLogs},
	sentry.ItemFeedback:        {onlyLogs, limited, translateFeedback},
	sentry.ItemUserReport:      {onlyLogs, limited, translateUserReport},
	sentry.ItemCheckIn:         {logsOrMetrics, limited, translateCheckIn},
	sentry.ItemAttachment:      {onlyLogs, unlimited, describeItem},
	sentry.ItemReplayEvent:     {onlyLogs, unlimited, describeItem},
	sentry.ItemReplayRecording: {onlyLogs, unlimited, describeItem},
	sentry.ItemReplayVideo:     {onlyLogs, unlimited, describeItem},
	sentry.ItemRawSecurity:     {onlyLogs, unlimited, describeItem},
	sentry.ItemSecurity:        {onlyLogs, unlimited, describeItem},
	sentry.ItemNel:             {onlyLogs, unlimited, describeItem},

	sentry.ItemTraceMetric:  {onlyMetrics, limited, translateTraceMetrics}, // metrics.go
	sentry.ItemSession:      {onlyMetrics, limited, translateSession},
	sentry.ItemSessions:     {onlyMetrics, limited, translateSessions},
	sentry.ItemClientReport: {onlyMetrics, limited, translateClientReport},

	sentry.ItemOtelTracesData:   {onlyTraces, unlimited, adoptTraces}, // otlp.go
	sentry.ItemOtelLogsData:     {onlyLogs, unlimited, adoptLogs},
	sentry.ItemOtelMetricsData:  {onlyMetrics, unlimited, adoptMetrics},
	sentry.ItemOtelProfilesData: {onlyProfiles, unlimited, adoptProfiles},
}

// Type describes how items of one type are translated.
type Type struct {
	Signals   []pipeline.Signal // of the deliveries, in order
	limited   bool              // the size is limited to ItemType.MaxSize
	translate func(*Translation, *sentry.Item) Result
}

// Values of Type.limited. Profiles have a configured limit instead, described items are not
// decoded, and OTLP is limited by its memory.
const (
	limited   = true
	unlimited = false
)

var (
	profilesOrMetrics = []pipeline.Signal{pipeline.SignalProfiles, pipeline.SignalMetrics}
	onlyProfiles      = []pipeline.Signal{pipeline.SignalProfiles}
	onlyTraces        = []pipeline.Signal{pipeline.SignalTraces}
	onlyLogs          = []pipeline.Signal{pipeline.SignalLogs}
	logsOrMetrics     = []pipeline.Signal{pipeline.SignalLogs, pipeline.SignalMetrics}
	onlyMetrics       = []pipeline.Signal{pipeline.SignalMetrics}
)

// Oversize returns an error for an item that is too large to be decoded.
func (t Type) Oversize(item *sentry.Item) *discard.Error {
	if !t.limited || len(item.Payload) <= item.Header.Type.MaxSize() {
		return nil
	}
	return &discard.Error{Reason: jsonscan.ReasonTooLarge,
		Detail: fmt.Sprintf("%s of %d bytes, at most %d", item.Header.Type, len(item.Payload), item.Header.Type.MaxSize())}
}

// Ordered yields items in the order of their translation.
//
// V1 profiles come first, because they are linked to the spans of their transaction, and these
// spans refer to them. The order of the two items depends on the SDK.
func Ordered(items []sentry.Item) iter.Seq[*sentry.Item] {
	return func(yield func(*sentry.Item) bool) {
		for _, first := range []bool{true, false} {
			for i := range items {
				if (items[i].Header.Type == sentry.ItemProfile) == first && !yield(&items[i]) {
					return
				}
			}
		}
	}
}

// Translate translates an item. Its type must be one of Types, and it must not be oversize.
func (t *Translation) Translate(item *sentry.Item) Result {
	return Types[item.Header.Type].translate(t, item)
}

// LinkOnly links the V1 profiles of the envelope to a transaction without delivering it.
func (t *Translation) LinkOnly(item *sentry.Item) {
	if len(t.unlinked) == 0 || item.Header.Type != sentry.ItemTransaction || Types[sentry.ItemTransaction].Oversize(item) != nil {
		return
	}
	if transaction, err := event.DecodeTransaction(item.Payload); err == nil {
		t.link(transaction, fromsentry.TransactionToTraces(transaction, t.source))
	}
}
