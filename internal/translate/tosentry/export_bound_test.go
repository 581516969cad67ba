// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Sentry's format repeats data in each item, frame or sample that OTLP contains once. The tests
// below make one text long and one list long, for all pairs of them, and compare the size of the
// output with its documented bound (bounds.go).

const (
	exportText = 20_000
	exportList = 300
)

// checkBound compares the size of an export with the size of its message. Temporary memory may be
// several times the output.
func checkBound(t *testing.T, name string, size int, export func() Export) Export {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := export()
	runtime.ReadMemStats(&after)
	written := 0
	for i := range out.Items {
		written += len(out.Items[i].Payload)
	}
	assert.LessOrEqual(t, written, attr.ExportBound(size), "%s: %d items", name, len(out.Items))
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, 16*uint64(attr.ExportBound(size)), name)
	assert.True(t, len(out.Items) > 0 || len(out.Lost) > 0, name)
	return out
}

// oneLong selects the long text by its name.
type oneLong struct{ name, kind string }

func (l oneLong) text(name string) string {
	if name == l.name {
		return strings.Repeat("\x01", exportText) // JSON encodes it as six bytes
	}
	return "x" + name
}

// set sets an attribute to the text or to a map that contains it.
func (l oneLong) set(m pcommon.Map, name string) {
	if name == l.name && l.kind == "map" {
		m.PutEmptyMap(name).PutStr("k", l.text(name))
	} else {
		m.PutStr(name, l.text(name))
	}
}

func (l oneLong) attribute(b *dictionary.Builder, name string) dictionary.AttributeIndex {
	value := pcommon.NewValueStr(l.text(name))
	if name == l.name && l.kind == "map" {
		value = pcommon.NewValueMap()
		value.Map().PutStr("k", l.text(name))
	}
	return b.Attribute(name, dictionary.AnyValue(value), "")
}

var (
	frameAttributes = []string{
		semconv.ProfileFrameType, semconv.SentryFrameModule, semconv.SentryFramePackage, semconv.SentryFramePlatform, semconv.SentryFrameInApp, semconv.SentryFrameFilename, semconv.SentryFrameAbsPath, semconv.SentryFrameInstructionAddr,
	}
	sampleAttributes  = []string{semconv.ThreadID, semconv.ThreadName, semconv.SentryThreadPriority}
	mappingAttributes = []string{semconv.ProcessExecutableBuildIDGNU, semconv.SentryDebugID, semconv.SentryImageType, semconv.SentryImageCodeID, semconv.SentryImageDebugFile, semconv.SentryImageUUID, semconv.SentryImageArch}
	profileAttributes = []string{semconv.SentryChunkID, semconv.SentryProfilerID, semconv.SentryProfileID}
	resourceTexts     = []string{
		semconv.ServiceName, semconv.ServiceVersion, semconv.SentryRelease, semconv.SentryDist, semconv.DeploymentEnvironmentName, semconv.TelemetrySDKName, semconv.TelemetrySDKVersion, semconv.TelemetrySDKLanguage, semconv.SentryPlatform,
		semconv.OSName, semconv.DeviceModelIdentifier, "other",
	}
)

// manyInProfiles are the lists in a message of profiles.
var manyInProfiles = []string{"hours", "threads", "locations", "lines", "mappings", "profiles", "scopes", "resources", "counts"}

func longProfiles(l oneLong, many string) pprofile.Profiles {
	out := pprofile.NewProfiles()
	b := dictionary.NewBuilder(out.Dictionary())
	repeat := func(list string) int {
		if list == many {
			return exportList
		}
		return 1
	}
	var stacks []int32
	mapping := dictionary.Mapping{Filename: b.String(l.text("mapping"))}
	for _, name := range mappingAttributes {
		mapping.Attributes = append(mapping.Attributes, l.attribute(b, name))
	}
	function := b.Function(dictionary.Function{
		Name: b.String(l.text("function")), SystemName: b.String(l.text("system")), Filename: b.String(l.text("file")),
	})
	for n := range max(repeat("locations"), repeat("mappings")) {
		mapping.Start = uint64(n%repeat("mappings")) << 12
		location := dictionary.Location{Address: uint64(n), Mapping: b.Mapping(mapping)}
		for range repeat("lines") {
			location.Lines = append(location.Lines, dictionary.Line{Function: function, Line: int64(n)})
		}
		for _, name := range frameAttributes {
			location.Attributes = append(location.Attributes, l.attribute(b, name))
		}
		stacks = append(stacks, int32(b.Stack([]dictionary.LocationIndex{b.Location(location)})))
	}
	for range repeat("resources") {
		resource := out.ResourceProfiles().AppendEmpty()
		if many != "resources" {
			for _, name := range resourceTexts {
				l.set(resource.Resource().Attributes(), name)
			}
		}
		for range repeat("scopes") {
			scope := resource.ScopeProfiles().AppendEmpty()
			if many != "resources" && many != "scopes" { // otherwise, nothing is repeated
				scope.Scope().SetName(l.text("scope"))
			}
			for range repeat("profiles") {
				longProfile(l, b, many, scope.Profiles().AppendEmpty(), stacks)
			}
		}
	}
	b.Finish()
	return out
}

func longProfile(l oneLong, b *dictionary.Builder, many string, p pprofile.Profile, stacks []int32) {
	dictionary.SetValueType(p.SampleType(), b.String("samples"), b.String("count"))
	p.SetTime(someTime)
	for _, name := range profileAttributes {
		p.AttributeIndices().Append(int32(l.attribute(b, name)))
	}
	for n := range exportList {
		if n > len(stacks) && many != "hours" && many != "threads" && many != "counts" {
			break
		}
		sample := p.Samples().AppendEmpty()
		sample.SetStackIndex(stacks[n%len(stacks)])
		for _, name := range sampleAttributes {
			if name == semconv.ThreadID && many == "threads" {
				sample.AttributeIndices().Append(int32(b.AttrInt(name, int64(n))))
			} else {
				sample.AttributeIndices().Append(int32(l.attribute(b, name)))
			}
		}
		switch many {
		case "hours":
			sample.TimestampsUnixNano().Append(someTime + uint64(n)*uint64(time.Hour))
		case "counts":
			sample.Values().Append(1 << 40)
		default:
			sample.TimestampsUnixNano().Append(someTime + uint64(n)*uint64(time.Millisecond))
		}
	}
}

func TestProfilesAreBounded(t *testing.T) {
	texts := append([]string{"", "function", "system", "file", "mapping", "scope"}, frameAttributes...)
	texts = append(append(append(append(texts, sampleAttributes...), mappingAttributes...), profileAttributes...), resourceTexts...)
	for m, many := range manyInProfiles {
		for i, name := range texts {
			for k, kind := range []string{"text", "map"} {
				if !testsize.Full() && (i+k+m)%13 != 0 {
					continue
				}
				profiles := longProfiles(oneLong{name, kind}, many)
				size := new(pprofile.ProtoMarshaler).ProfilesSize(profiles)
				checkBound(t, fmt.Sprintf("long %s (%s), many %s", name, kind, many), size, func() Export { return ProfilesToChunks(profiles, exportOptions) })
			}
		}
	}
}

// manyInTraces are the lists in a message of spans.
var manyInTraces = []string{"roots", "children", "orphans", "scopes", "resources", "events", "links", "attributes"}

func longTraces(l oneLong, many string) ptrace.Traces {
	out := ptrace.NewTraces()
	repeat := func(list string) int {
		if list == many {
			return exportList
		}
		return 1
	}
	id := uint64(0)
	for range repeat("resources") {
		resource := out.ResourceSpans().AppendEmpty()
		if many != "resources" {
			for _, name := range resourceTexts {
				l.set(resource.Resource().Attributes(), name)
			}
		}
		for range repeat("scopes") {
			scope := resource.ScopeSpans().AppendEmpty()
			if many != "resources" && many != "scopes" {
				scope.Scope().SetName(l.text("scope"))
			}
			for range max(repeat("roots"), repeat("children"), repeat("orphans")) {
				id++
				span := scope.Spans().AppendEmpty()
				span.SetTraceID(pcommon.TraceID{1})
				span.SetSpanID(pcommon.SpanID{byte(id >> 8), byte(id), 1})
				switch {
				case many == "orphans":
					span.SetParentSpanID(pcommon.SpanID{9, 9, 9})
				case many == "children" && id > 1:
					span.SetParentSpanID(pcommon.SpanID{0, 1, 1})
				}
				span.SetStartTimestamp(pcommon.Timestamp(someTime))
				span.SetEndTimestamp(pcommon.Timestamp(someTime + 1000))
				if id > 1 {
					continue
				}
				span.SetName(l.text("span"))
				span.Status().SetMessage(l.text("status"))
				l.set(span.Attributes(), "attribute")
				l.set(span.Attributes(), semconv.ThreadName)
				for n := range repeat("attributes") {
					span.Attributes().PutInt(fmt.Sprint(n), 1)
				}
				for range repeat("events") {
					span.Events().AppendEmpty().SetName("e")
				}
				for range repeat("links") {
					link := span.Links().AppendEmpty()
					link.SetTraceID(pcommon.TraceID{1})
					link.SetSpanID(pcommon.SpanID{1})
				}
			}
		}
	}
	return out
}

func TestTracesAreBounded(t *testing.T) {
	texts := append([]string{"", "scope", "span", "status", "attribute", semconv.ThreadName}, resourceTexts...)
	for _, spansOnly := range []bool{false, true} {
		o := exportOptions
		o.SpansOnly, o.Profiled = spansOnly, true
		for m, many := range manyInTraces {
			for i, name := range texts {
				for k, kind := range []string{"text", "map"} {
					if !testsize.Full() && (i+k+m)%13 != 0 {
						continue
					}
					traces := longTraces(oneLong{name, kind}, many)
					size := new(ptrace.ProtoMarshaler).TracesSize(traces)
					title := fmt.Sprintf("long %s (%s), many %s, only spans: %t", name, kind, many, spansOnly)
					out := checkBound(t, title, size, func() Export { return TracesToTransactions(traces, o) })
					sent := 0
					for i := range out.Items {
						sent += out.Items[i].Count
					}
					assert.Equal(t, traces.SpanCount(), sent, "%s: %v", title, out.Lost)
				}
			}
		}
	}
}

// TestSmallSpansAreBounded: the items of the smallest spans repeat the names of their resource.
func TestSmallSpansAreBounded(t *testing.T) {
	n := 30_000
	if !testsize.Full() {
		n = 3000
	}
	for _, spansOnly := range []bool{false, true} {
		o := exportOptions
		o.SpansOnly = spansOnly
		traces := ptrace.NewTraces()
		resource := traces.ResourceSpans().AppendEmpty()
		for _, key := range resourceTexts {
			resource.Resource().Attributes().PutStr(key, strings.Repeat("\x01", attr.MaxNameBytes))
		}
		spans := resource.ScopeSpans().AppendEmpty().Spans()
		for i := range n {
			span := spans.AppendEmpty()
			span.SetTraceID(pcommon.TraceID{1})
			span.SetSpanID(pcommon.SpanID{byte(i >> 16), byte(i >> 8), byte(i), 1})
			span.SetEndTimestamp(pcommon.Timestamp(someTime))
		}
		size := new(ptrace.ProtoMarshaler).TracesSize(traces)
		out := checkBound(t, fmt.Sprintf("only spans: %t", spansOnly), size, func() Export { return TracesToTransactions(traces, o) })
		written, sent := 0, 0
		for i := range out.Items {
			written += len(out.Items[i].Payload)
			sent += out.Items[i].Count
		}
		assert.Equal(t, n, sent)
		t.Logf("only spans: %t: %d bytes become %d, %.2f of the bound", spansOnly, size, written, float64(written)/float64(attr.ExportBound(size)))
	}
}

// TestLargestExport: two observations per minute are a chunk with all texts of their frame.
func TestLargestExport(t *testing.T) {
	testsize.NeedFull(t)
	message := longProfiles(oneLong{"function", "text"}, "")
	scopes := message.ResourceProfiles().At(0).ScopeProfiles()
	times := scopes.At(0).Profiles().At(0).Samples().At(0).TimestampsUnixNano()
	for minute := range uint64(24 * 60) {
		times.Append(someTime+minute*uint64(time.Minute), someTime+minute*uint64(time.Minute)+1e6)
	}
	for i := range 200 {
		scope := scopes.AppendEmpty()
		scopes.At(0).CopyTo(scope)
		scope.Scope().SetName(fmt.Sprint(i)) // profiles of one scope are joined
	}
	require.Greater(t, attr.ExportBound(new(pprofile.ProtoMarshaler).ProfilesSize(message)), attr.MaxExport)
	out, written := ProfilesToChunks(message, exportOptions), 0
	for i := range out.Items {
		written += len(out.Items[i].Payload)
	}
	t.Logf("%.1f of %d MiB", float64(written)/(1<<20), attr.MaxExport>>20)
	assert.LessOrEqual(t, written, attr.MaxExport)
	assert.Greater(t, written, attr.MaxExport*9/10)
	assert.NotEmpty(t, out.Lost)
}
