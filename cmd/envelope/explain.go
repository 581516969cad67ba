// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
)

var explainCommand = command{
	name:      "explain",
	arguments: "ENVELOPE...",
	summary:   "Describe the items of envelopes, and what the receiver makes of them",
	examples: []string{
		"envelope explain testdata/cases/sdk-python-v1/in.envelope",
		"envelope explain --linked testdata/cases/sdk-python-v1/in.envelope",
		"cat testdata/cases/sdk-python-v1/in.envelope | envelope explain -",
	},
	prepare: func(flags *flag.FlagSet) func(environment, []string) error {
		linked := flags.Bool("linked", false, "list the spans that samples are linked to; also links samples to spans in other envelopes of the same session")
		return func(env environment, files []string) error { return explain(env, files, *linked) }
	},
}

// explain describes envelopes. It fails if one cannot be read to its end.
func explain(env environment, files []string, linked bool) error {
	inputs, err := env.read(files)
	if err != nil {
		return err
	}
	scrubber, err := scrub.New(scrub.DefaultConfig())
	if err != nil {
		return err
	}
	x := explainer{environment: env, scrubber: scrubber, spans: spanlink.NewIndex(spanlink.Sentry, spanlink.Limits{Spans: maxSpans, MaxAge: math.MaxInt64})}
	for i, in := range inputs {
		if i > 0 {
			x.line(0, "")
		}
		if len(inputs) > 1 {
			x.line(0, "%s", x.paint(bold, printable(in.name)))
		}
		x.envelope(in.data)
	}
	if linked {
		x.linkAll()
		x.linkedSpans()
	}
	if x.broken {
		return errFindings
	}
	return nil
}

// maxSpans bounds the spans in memory, at about 75 bytes each.
const maxSpans = 2_000_000

type explainer struct {
	environment
	scrubber *scrub.Scrubber
	broken   bool // an envelope cannot be read to its end

	// For the links between envelopes.
	spans    *spanlink.Index
	traces   []ptrace.Traces
	profiles []pprofile.Profiles
	chunks   []pprofile.Profiles // those of profiler sessions
}

// text returns a text of the input that is in no message, scrubbed like the body of a log record.
func (x *explainer) text(text string) string {
	logs := plog.NewLogs()
	body := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body()
	body.SetStr(text)
	x.scrubber.Logs(logs)
	return printable(body.Str())
}

// line writes a line.
func (x *explainer) line(indent int, format string, args ...any) {
	fmt.Fprintf(x.out, "%*s"+format+"\n", append([]any{2 * indent, ""}, args...)...)
}

func (x *explainer) envelope(data []byte) {
	envelope, err := profilefile.ReadEnvelope(data)
	lenient, strict := examine(envelope, time.Now())
	x.header(envelope, len(data))
	if err != nil {
		x.broken = true
		x.line(1, "%s %s", x.paint(red, "rejected"), x.text(err.Error()+misfit(data)))
		if len(envelope.Items) > 0 {
			x.line(1, "the receiver accepts nothing of it; a complete envelope would have these results:")
		}
	} else if len(envelope.Items) == 0 {
		x.line(1, "%s no items%s", x.paint(yellow, "has"), printable(misfit(data)))
	}
	for i := range lenient.Items {
		x.item(i+1, &lenient.Items[i], &strict.Items[i])
	}
	x.links(lenient)
}

// examine translates an envelope with lenient and with strict validation.
func examine(envelope *sentry.Envelope, now time.Time) (lenient, strict *profilefile.Examined) {
	settings := sentryitems.DefaultSettings()
	lenient = profilefile.Examine(envelope, settings, now)
	settings.Validation = profile.Strict
	return lenient, profilefile.Examine(envelope, settings, now)
}

func (x *explainer) header(e *sentry.Envelope, size int) {
	x.line(0, "%s, %s, %s", x.paint(bold, "envelope"), count(len(e.Items), "item"), bytesText(size))
	h := &e.Header
	if h.SDK != (sentry.SDK{}) {
		x.line(1, "SDK      %s %s", x.text(h.SDK.Name), x.text(h.SDK.Version))
	}
	if h.EventID != "" {
		x.line(1, "event    %s", x.text(h.EventID))
	}
	if !h.SentAt.IsZero() {
		x.line(1, "sent     %s", h.SentAt.Format(time.RFC3339Nano))
	}
	if h.DSN != "" {
		x.line(1, "project  %s", projectOf(h.DSN))
	}
	if h.Trace != nil && h.Trace.TraceID != "" {
		x.line(1, "trace    %s", x.text(h.Trace.TraceID))
	}
}

// projectOf returns the project of a DSN. Its key is a credential.
func projectOf(dsn string) string {
	parsed, err := sentry.ParseDSN(dsn)
	if err != nil {
		return printable(err.Error())
	}
	return printable(parsed.ProjectID)
}

// item describes an item: the result of lenient validation, and how strict validation differs.
func (x *explainer) item(number int, lenient, strict *profilefile.ExaminedItem) {
	name := cmp.Or(string(lenient.Header.Type), "(no type)")
	x.line(0, "item %d   %s, %s", number, x.paint(bold, x.text(name)), bytesText(len(lenient.Payload)))
	switch {
	case !lenient.Known:
		x.line(1, "%s accepted and dropped: it has no equivalent in OTLP", x.paint(yellow, "ignored"))
		return
	case lenient.Unusable != nil:
		x.line(1, "%s %s", x.paint(red, "discarded"), x.text(lenient.Unusable.Error()))
	}
	for _, d := range lenient.Deliveries {
		x.message(d.Message.Data(), lenient.Header.Type != sentry.ItemProfile)
	}
	for _, l := range lenient.Losses() {
		x.line(1, "%s %s: %s", x.paint(yellow, "dropped"), count(l.Count, l.What), x.text(l.Reason))
	}
	for _, rule := range lenient.Tolerated {
		x.line(1, "%s the rule %s", x.paint(yellow, "breaks"), rule)
	}
	if strict.Unusable != nil && lenient.Unusable == nil {
		x.line(1, "%s with strict validation: %s", x.paint(yellow, "discarded"), x.text(strict.Unusable.Error()))
	}
}

// links describes the links between V1 profiles and the transaction of their envelope.
func (x *explainer) links(e *profilefile.Examined) {
	for _, l := range e.Links {
		x.stats(l.Stats)
	}
	for _, u := range e.Unlinked {
		x.line(0, "links    %s without one: %s", count(spanlink.Observations(u.Profiles), "observation"), sentryitems.ReasonNoTransaction)
	}
}

func (x *explainer) stats(s spanlink.LinkStats) {
	x.line(0, "links    %s to spans", count(s.Linked, "observation"))
	for reason, n := range s.Reasons {
		x.line(1, "%s without one: %s", count(n, "observation"), reason)
	}
}

// linkAll links profiles to spans of other envelopes, as the profile_transform processor does.
func (x *explainer) linkAll() {
	for _, traces := range x.traces {
		x.spans.AddTraces("", traces, time.Now())
	}
	var all spanlink.LinkStats
	for _, profiles := range x.chunks {
		all.Add(x.spans.Link(profiles, spanlink.Options{Now: time.Now(), Ambiguous: spanlink.Skip}))
	}
	if all != (spanlink.LinkStats{}) {
		all.Linked += all.Kept
		x.stats(all)
	}
}

// linkedSpans lists the spans with samples, those with the most samples first.
func (x *explainer) linkedSpans() {
	observations := map[timeline.Link]int64{}
	for _, message := range x.profiles {
		countLinked(message, observations)
	}
	named := map[timeline.Link]string{}
	for _, traces := range x.traces {
		for _, span := range spansOf(traces) {
			named[timeline.Link{Trace: span.TraceID(), Span: span.SpanID()}] = span.Name()
		}
	}
	spans := make([]timeline.Link, 0, len(observations))
	for span := range observations {
		spans = append(spans, span)
	}
	slices.SortFunc(spans, func(a, b timeline.Link) int {
		return cmp.Or(cmp.Compare(observations[b], observations[a]), slices.Compare(a.Span[:], b.Span[:]))
	})
	for _, span := range spans {
		x.line(1, "%6d  %s  %s", observations[span], span.Span, printable(cmp.Or(named[span], "(a span of another envelope)")))
	}
	if len(spans) == 0 {
		x.line(0, "no sample is linked to a span")
	}
}
