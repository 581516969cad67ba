package translate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// containerThereAndBack: with the option for it, the spans of a container come back in containers, one for each trace.
func containerThereAndBack(t *testing.T, name string, sent *sentry.SpanContainer, src Source) {
	o := exportOptions
	o.SpansOnly = true
	back := TracesToTransactions(SpansToTraces(sent, src), o)
	require.Empty(t, back.Lost, name)
	var want, got []string
	id := containerIdentity(sent, src)
	unsaid := map[string]bool{} // spans that name no segment: it is named where it came with them
	for i := range sent.Spans {
		unsaid[sent.Spans[i].SpanID] = !slices.ContainsFunc(sent.Spans[i].Attributes, isSegmentID)
		want = append(want, streamedLines(expectedStreamed(sent.Spans[i], id))...)
	}
	for i := range back.Items {
		item := &back.Items[i]
		require.Empty(t, ingestSpansVerdict(item), name)
		c, err := sentry.DecodeSpans(item.Payload, item.Header.ItemCount)
		require.NoError(t, err, name)
		require.Empty(t, c.Flaws, name)
		for i := range c.Spans {
			if unsaid[c.Spans[i].SpanID] {
				c.Spans[i].Attributes = slices.DeleteFunc(c.Spans[i].Attributes, isSegmentID)
			}
			got = append(got, streamedLines(c.Spans[i])...)
		}
	}
	requireSameLines(t, name, want, got, nil)
}

func isSegmentID(a sentry.Attribute) bool { return a.Key == keySegmentID }

func streamedLines(s sentry.StreamedSpan) (lines []string) {
	line := func(format string, args ...any) {
		lines = append(lines, s.TraceID+s.SpanID+" "+fmt.Sprintf(format, args...))
	}
	line("%q under %q %s from %d to %d segment %v", s.Name, s.ParentSpanID, s.Status, s.Start.UnixNano, s.End.UnixNano, s.IsSegment.Value)
	for _, a := range s.Attributes {
		if text := plainJSON(a.Value); text != "" {
			line("%q is %s %s %q", a.Key, a.Type, text, a.Unit)
		}
	}
	for _, link := range s.Links {
		line("link %s %s %v", link.TraceID, link.SpanID, link.Sampled.Value)
		for _, a := range link.Attributes {
			line("link %s attribute %q is %s %s", link.SpanID, a.Key, a.Type, plainJSON(a.Value))
		}
	}
	return lines
}

// expectedStreamed is what was sent, with the listed differences: every span says who sent it; kind and is_remote are attributes;
// ids of the profiler are in Sentry's form and the thread is text; an attribute has the type of its value.
func expectedStreamed(s sentry.StreamedSpan, id identity) sentry.StreamedSpan {
	s.Attributes = slices.Clone(s.Attributes)
	add := func(key, text string) {
		if text != "" && !slices.ContainsFunc(s.Attributes, func(a sentry.Attribute) bool { return a.Key == key }) {
			s.Attributes = append(s.Attributes, sentry.Attribute{Key: key, Type: "string", Value: jsonString(text)})
		}
	}
	if s.Kind != "" {
		s.Attributes = slices.DeleteFunc(s.Attributes, func(a sentry.Attribute) bool { return a.Key == keyKind })
		add(keyKind, s.Kind)
	}
	add(keyRelease, id.release)
	add(keySDKEnvironment, id.environment)
	add(keyDist, id.dist)
	add(keyPlatform, id.platform)
	add(keyStreamedSDK, firstText(id.sdk.Name, exportOptions.SDK.Name))
	add(keyStreamedVersion, firstText(id.sdk.Version, exportOptions.SDK.Version))
	if s.IsRemote.Set {
		s.Attributes = append(s.Attributes, sentry.Attribute{Key: keyIsRemote, Type: "boolean", Value: fmt.Append(nil, s.IsRemote.Value)})
	}
	isProfiler := func(a sentry.Attribute) bool { return a.Key == keyProfilerID || a.Key == "profiler_id" }
	if slices.ContainsFunc(s.Attributes, isProfiler) { // then a V1 profile beside it, which is sent as a session of its own, is not named
		s.Attributes = slices.DeleteFunc(s.Attributes, func(a sentry.Attribute) bool { return a.Key == keyProfileID || a.Key == keySpanProfileID })
	}
	for i := range s.Attributes {
		a := &s.Attributes[i]
		switch a.Key {
		case keyThreadID:
			a.Type, a.Value = "string", jsonString(plainText(a.Value))
		case keyProfilerID, "profiler_id", keyProfileID, keySpanProfileID:
			a.Key, a.Value = keyProfilerID, jsonString(simpleID(plainText(a.Value)))
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

func expectedType(a *sentry.Attribute) (string, []byte) {
	switch a.Value[0] {
	case '"':
		if a.Type == "integer" {
			return a.Type, []byte(jsonText(a.Value))
		}
		return "string", a.Value
	case 't', 'f':
		return "boolean", a.Value
	case '[':
		return "array", a.Value
	case '{':
		return "string", jsonString(string(a.Value))
	}
	if a.Type == "double" || slices.ContainsFunc(a.Value, func(c byte) bool { return c == '.' || c == 'e' || c == 'E' }) {
		if !slices.Contains(a.Value, '.') {
			return "double", append(slices.Clone(a.Value), ".0"...)
		}
		return "double", a.Value
	}
	return "integer", a.Value
}
