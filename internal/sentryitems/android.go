// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// decodeTrace decodes the trace of an Android profile. For other profiles, it returns nil and no
// error.
func decodeTrace(t *Translation, subject *profile.Subject, out *Result) (trace *fromandroid.Trace, why *discard.Error) {
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
		out.Samples = discard.AddLoss(out.Samples, loss.Reason, loss.Count)
	}
	out.Elements = append(out.Elements, trace.Elements...)
	if subject.Profile != nil {
		out.settleActiveThread(subject.Profile.Transaction, trace)
	}
	return trace, nil
}

// settleActiveThread makes the main thread of a trace the active thread if the payload names a
// thread that is not in the trace: some SDKs send Java thread IDs, but traces contain kernel thread
// IDs.
func (out *Result) settleActiveThread(transaction *profile.ProfileTransaction, trace *fromandroid.Trace) {
	if transaction == nil || trace.HasThread(transaction.ActiveThreadID.Text) {
		return
	}
	if transaction.ActiveThreadID.Text != "" {
		out.Fields = discard.AddFlaw(out.Fields, "active_thread_id", 1)
	}
	transaction.ActiveThreadID = jsonscan.Decimal{Text: trace.MainThread()}
}

// addUnusableTrace counts an unusable trace in a profile whose other data is usable.
func (out *Result) addUnusableTrace(why *discard.Error) {
	out.Elements = append(out.Elements, discard.Loss{Reason: why.Reason, Count: 1})
}

// androidToProfiles translates an Android profile.
func androidToProfiles(out *Result, subject profile.Subject, trace *fromandroid.Trace, src fromsentry.Source) (profiles pprofile.Profiles) {
	placed := false
	if subject.Chunk != nil {
		profiles, placed = fromsentry.AndroidChunkToProfiles(subject.Chunk, trace, src)
	} else {
		profiles, placed = fromsentry.AndroidProfileToProfiles(subject.Profile, trace, src)
	}
	if !placed {
		out.Fields = discard.AddFlaw(out.Fields, "timestamp", 1)
	}
	return profiles
}
