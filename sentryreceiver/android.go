// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// decodeTrace decodes the trace of an Android profile. For other profiles, it returns nil and no
// error.
func (t *translation) decodeTrace(subject *profile.Subject, out *translated) (trace *fromandroid.Trace, why *discard.Error) {
	android := subject.Android()
	if android == nil {
		return nil, nil
	}
	if android.Unusable != nil {
		return nil, android.Unusable
	}
	var err error
	if android.PerfettoTrace != nil {
		trace, err = fromandroid.PerfettoTrace(android.PerfettoTrace)
	} else {
		trace, err = fromandroid.MethodTrace(android.MethodTrace, profile.NominalPeriod, t.spareObservations)
	}
	if err != nil {
		return nil, discardOf(err)
	}
	t.spareObservations -= trace.Spent
	subject.TraceNanos = uint64(trace.Duration)
	for _, loss := range trace.Samples {
		out.samples = discard.AddLoss(out.samples, loss.Reason, loss.Count)
	}
	out.elements = append(out.elements, trace.Elements...)
	if subject.Profile != nil {
		out.settleActiveThread(subject.Profile.Transaction, trace)
	}
	return trace, nil
}

// settleActiveThread makes the main thread of a trace the active thread if the payload names a
// thread that is not in the trace: some SDKs send Java thread IDs, but traces contain kernel thread
// IDs.
func (out *translated) settleActiveThread(transaction *profile.ProfileTransaction, trace *fromandroid.Trace) {
	if transaction == nil || trace.HasThread(transaction.ActiveThreadID.Text) {
		return
	}
	if transaction.ActiveThreadID.Text != "" {
		out.fields = discard.AddFlaw(out.fields, "active_thread_id", 1)
	}
	transaction.ActiveThreadID = jsonscan.Decimal{Text: trace.MainThread()}
}

// onlyMeasurements translates the measurements of a profile whose trace cannot be decoded. A
// profile without measurements is then unusable.
func (t *translation) onlyMeasurements(out *translated, item *sentry.Item, subject profile.Subject, why *discard.Error) {
	t.addMeasurements(out, subject, t.profileSource(subject, item))
	if len(out.deliveries) == 0 {
		out.unusable = why
		return
	}
	out.addUnusableTrace(why)
	out.deliveries[0].ids = t.profileIDs(subject)
}

// addUnusableTrace counts an unusable trace in a profile whose other data is usable.
func (out *translated) addUnusableTrace(why *discard.Error) {
	out.elements = append(out.elements, discard.Loss{Reason: why.Reason, Count: 1})
}

// androidToProfiles translates an Android profile.
func androidToProfiles(out *translated, subject profile.Subject, trace *fromandroid.Trace, src fromsentry.Source) (profiles pprofile.Profiles) {
	placed := false
	if subject.Chunk != nil {
		profiles, placed = fromsentry.AndroidChunkToProfiles(subject.Chunk, trace, src)
	} else {
		profiles, placed = fromsentry.AndroidProfileToProfiles(subject.Profile, trace, src)
	}
	if !placed {
		out.fields = discard.AddFlaw(out.fields, "timestamp", 1)
	}
	return profiles
}
