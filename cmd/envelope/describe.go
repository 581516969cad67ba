// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// maxListed is the maximum number of names in one line.
const maxListed = 5

// message describes an OTLP message after scrubbing, as the receiver sends it, and keeps its
// profiles and spans, to link them later. Profiles of a session may have spans in other envelopes.
func (x *explainer) message(data any, ofSession bool) {
	accepted := x.paint(green, "becomes")
	switch data := data.(type) {
	case pprofile.Profiles:
		x.scrubber.Profiles(data)
		x.profiles = append(x.profiles, data)
		if ofSession {
			x.chunks = append(x.chunks, data)
		}
		for _, text := range profileTexts(data) {
			x.line(1, "%s %s", accepted, text)
		}
	case ptrace.Traces:
		x.scrubber.Traces(data)
		x.traces = append(x.traces, data)
		x.line(1, "%s %s", accepted, tracesText(data))
	case plog.Logs:
		x.scrubber.Logs(data)
		x.line(1, "%s %s", accepted, logsText(data))
	case pmetric.Metrics:
		x.scrubber.Metrics(data)
		x.line(1, "%s %s", accepted, metricsText(data))
	}
}

// profileTexts describes each profile of a message.
func profileTexts(message pprofile.Profiles) (texts []string) {
	reader := timeline.NewReader(message.Dictionary())
	for _, p := range profilesOf(message) {
		read := reader.Read(p)
		observations, stacks := int64(0), map[timeline.StackIndex]bool{}
		for _, s := range read.Selected(timeline.Filter{}) {
			observations += s.Count
			stacks[s.Stack] = true
		}
		text := fmt.Sprintf("a profile of %s: %s of %s in %s, %s", printable(cmp.Or(read.Measure.Type, "samples")),
			count(observations, "observation"), count(len(read.Threads), "thread"), count(len(stacks), "stack"), interval(uint64(p.Time()), p.DurationNano()))
		if period := p.Period(); period > 0 {
			text += ", every " + time.Duration(period).String()
		}
		texts = append(texts, text)
	}
	return texts
}

func tracesText(traces ptrace.Traces) string {
	first, last, ids := uint64(0), uint64(0), map[string]bool{}
	root := ""
	for _, span := range spansOf(traces) {
		start, end := uint64(span.StartTimestamp()), uint64(span.EndTimestamp())
		if first == 0 || start < first {
			first = start
		}
		last = max(last, end)
		ids[span.TraceID().String()] = true
		root = cmp.Or(root, span.Name())
	}
	return fmt.Sprintf("%s of %s %s, first %q, %s", count(traces.SpanCount(), "span"), plural("trace", len(ids)), list(ids), printable(root), interval(first, last-first))
}

func logsText(logs plog.Logs) string {
	names := map[string]bool{}
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				names[cmp.Or(record.EventName(), record.Body().AsString())] = true
			}
		}
	}
	return count(logs.LogRecordCount(), "log record") + ": " + list(names)
}

func metricsText(metrics pmetric.Metrics) string {
	names := map[string]bool{}
	for _, resource := range metrics.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				names[metric.Name()] = true
			}
		}
	}
	return fmt.Sprintf("%s of %s: %s", count(metrics.DataPointCount(), "data point"), count(len(names), "metric"), list(names))
}

// interval formats a time and a duration for people.
func interval(start, nanos uint64) string {
	if start == 0 {
		return "without a time"
	}
	at := time.Unix(int64(start/1e9), int64(start%1e9)).UTC()
	return at.Format(time.RFC3339Nano) + " for " + time.Duration(nanos).Round(time.Microsecond).String()
}

// list returns a few names of a set.
func list(set map[string]bool) string {
	names := slices.Sorted(maps.Keys(set))
	rest := ""
	if len(names) > maxListed {
		names, rest = names[:maxListed], fmt.Sprintf(" and %d more", len(names)-maxListed)
	}
	for i := range names {
		names[i] = printable(names[i])
	}
	return strings.Join(names, ", ") + rest
}

// profilesOf returns the profiles of a message.
func profilesOf(message pprofile.Profiles) (all []pprofile.Profile) {
	eachScope(message, func(scope pprofile.ScopeProfiles) {
		for _, p := range scope.Profiles().All() {
			all = append(all, p)
		}
	})
	return all
}

func eachScope(message pprofile.Profiles, do func(pprofile.ScopeProfiles)) {
	for _, resource := range message.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			do(scope)
		}
	}
}

// spansOf returns the spans of a message.
func spansOf(traces ptrace.Traces) (all []ptrace.Span) {
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				all = append(all, span)
			}
		}
	}
	return all
}

// countLinked adds the observations of a message to those of their spans.
func countLinked(message pprofile.Profiles, observations map[timeline.Link]int64) {
	reader := timeline.NewReader(message.Dictionary())
	for _, p := range profilesOf(message) {
		read := reader.Read(p)
		for _, s := range read.Selected(timeline.Filter{}) {
			if link := read.Links[s.Link]; link != (timeline.Link{}) {
				observations[link] += s.Count
			}
		}
	}
}
