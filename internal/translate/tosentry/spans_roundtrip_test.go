// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// containerThereAndBack: with spans_as: spans, the spans of a container come back in containers,
// one for each trace.
func containerThereAndBack(t *testing.T, name string, sent *event.SpanContainer, src fromsentry.Source) {
	o := exportOptions
	o.SpansOnly = true
	back := TracesToTransactions(fromsentry.SpansToTraces(sent, src), o)
	require.Empty(t, back.Lost, name)
	var want, got []string
	id := fromsentry.ContainerIdentity(sent, src)
	said := map[string]bool{} // spans get what they lack from a segment in the same message
	for i := range sent.Spans {
		for _, a := range sent.Spans[i].Attributes {
			said[sent.Spans[i].SpanID+a.Key] = true
		}
		want = append(want, streamedLines(expectedStreamed(sent.Spans[i], id))...)
	}
	for i := range back.Items {
		item := &back.Items[i]
		require.Empty(t, ingestSpansVerdict(item), name)
		c, err := event.DecodeSpans(item.Payload, item.Header.ItemCount)
		require.NoError(t, err, name)
		require.Empty(t, c.Flaws, name)
		for i := range c.Spans {
			c.Spans[i].Attributes = slices.DeleteFunc(c.Spans[i].Attributes, func(a event.Attribute) bool {
				return isOfSegment(a.Key) && !said[c.Spans[i].SpanID+a.Key]
			})
			got = append(got, streamedLines(c.Spans[i])...)
		}
	}
	requireSameLines(t, name, want, got, nil)
}

func isOfSegment(key string) bool {
	return key == semconv.SentrySegmentID || key == semconv.SentrySegmentName || attr.UserFields.FieldOf(key) != "" || strings.HasPrefix(key, semconv.SentryUserPrefix)
}

func streamedLines(s event.StreamedSpan) (lines []string) {
	line := func(format string, args ...any) {
		lines = append(lines, s.TraceID+s.SpanID+" "+fmt.Sprintf(format, args...))
	}
	line("%q under %q %s from %d to %d segment %v", s.Name, s.ParentSpanID, s.Status, s.Start.UnixNano, s.End.UnixNano, s.IsSegment.Value)
	for _, a := range s.Attributes {
		if text := golden.PlainJSON(a.Value); text != "" {
			line("%q is %s %s %q", a.Key, a.Type, text, a.Unit)
		}
	}
	for _, link := range s.Links {
		line("link %s %s %v", link.TraceID, link.SpanID, link.Sampled.Value)
		for _, a := range link.Attributes {
			line("link %s attribute %q is %s %s", link.SpanID, a.Key, a.Type, golden.PlainJSON(a.Value))
		}
	}
	return lines
}

// expectedStreamed returns the original with the documented differences: every span has the
// sender's attributes; kind and is_remote are attributes; profiler IDs are in Sentry's form, and
// the thread is text; the type of an attribute is that of its value.
func expectedStreamed(s event.StreamedSpan, id attr.Identity) event.StreamedSpan {
	s.Attributes = slices.Clone(s.Attributes)
	add := func(key, text string) {
		if text != "" && !slices.ContainsFunc(s.Attributes, func(a event.Attribute) bool { return a.Key == key }) {
			s.Attributes = append(s.Attributes, event.Attribute{Key: key, Type: "string", Value: attr.JsonString(text)})
		}
	}
	if s.Kind != "" {
		s.Attributes = slices.DeleteFunc(s.Attributes, func(a event.Attribute) bool { return a.Key == semconv.SentryKind })
		add(semconv.SentryKind, s.Kind)
	}
	add(semconv.SentryRelease, id.Release)
	add(semconv.SentryEnvironment, id.Environment)
	add(semconv.SentryDist, id.Dist)
	add(semconv.SentryPlatform, id.Platform)
	add(semconv.SentrySDKName, attr.FirstText(id.Sdk.Name, exportOptions.SDK.Name))
	add(semconv.SentrySDKVersion, attr.FirstText(id.Sdk.Version, exportOptions.SDK.Version))
	if s.IsRemote.Set {
		s.Attributes = append(s.Attributes, event.Attribute{Key: semconv.SentryIsRemote, Type: "boolean", Value: fmt.Append(nil, s.IsRemote.Value)})
	}
	isProfiler := func(a event.Attribute) bool { return a.Key == semconv.SentryProfilerID || a.Key == "profiler_id" }
	if slices.ContainsFunc(s.Attributes, isProfiler) { // the V1 profile is then sent as its own session, and its ID is omitted
		s.Attributes = slices.DeleteFunc(s.Attributes, func(a event.Attribute) bool { return a.Key == semconv.SentryProfileID || a.Key == semconv.ProfileID })
	}
	for i := range s.Attributes {
		a := &s.Attributes[i]
		switch a.Key {
		case semconv.ThreadID:
			a.Type, a.Value = "string", attr.JsonString(attr.PlainText(a.Value))
		case semconv.SentryProfilerID, "profiler_id", semconv.SentryProfileID, semconv.ProfileID:
			a.Key, a.Value = semconv.SentryProfilerID, attr.JsonString(attr.SimpleID(attr.PlainText(a.Value)))
		default:
			a.Type, a.Value = expectedType(a)
		}
	}
	for i := range s.Links {
		for j := range s.Links[i].Attributes {
			a := &s.Links[i].Attributes[j]
			a.Type, a.Value = expectedType(a)
		}
	}
	return s
}

func expectedType(a *event.Attribute) (string, []byte) {
	switch a.Value[0] {
	case '"':
		if a.Type == "integer" {
			return a.Type, []byte(attr.JsonText(a.Value))
		}
		return "string", a.Value
	case 't', 'f':
		return "boolean", a.Value
	case '[':
		if string(a.Value) == `[1,"a"]` || string(a.Value) == `["a",1]` { // ingest keeps lists of one type only
			return "string", attr.JsonString(string(a.Value))
		}
		return "array", a.Value
	case '{':
		return "string", attr.JsonString(string(a.Value))
	}
	if a.Type == "double" || slices.ContainsFunc(a.Value, func(c byte) bool { return c == '.' || c == 'e' || c == 'E' }) {
		if !slices.Contains(a.Value, '.') {
			return "double", append(slices.Clone(a.Value), ".0"...)
		}
		return "double", a.Value
	}
	return "integer", a.Value
}
