// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestManyHeadersOfManyResponses: attributes are compared with each other, so their number is
// bounded. These messages took minutes before.
func TestManyHeadersOfManyResponses(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"contexts":{"k":1`)
	contexts := 256
	if !testsize.Full() {
		contexts = 32
	}
	for context := range contexts {
		b.WriteString(`,"response":{"status_code":200,"headers":{"k":"1"`)
		for header := range 500 {
			fmt.Fprintf(&b, `,"%x":"1"`, context*500+header)
		}
		b.WriteString(`}}`)
	}
	b.WriteString(`}}`)
	event, err := event.DecodeEvent([]byte(b.String()))
	require.NoError(t, err)
	record := fromsentry.EventToLogs(event, fromsentry.Source{}).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	require.LessOrEqual(t, record.Attributes().Len(), fromsentry.MaxRecordAttributes+attr.MaxMembers)
	together, _ := record.Attributes().Get("sentry.context.response")
	headers, _ := together.Map().Get("headers")
	require.Equal(t, 501, headers.Map().Len(), "those of the last response stay together")
}

// requireLinear fails if an export of n elements takes longer than only quadratic work does.
//
// These comparisons neither allocate nor call anything that a test could count, so this is a bound
// of time, for full size: linear work takes less than a second, quadratic work minutes.
func requireLinear(t *testing.T, input func(n int) func() Export, n int) {
	t.Helper()
	if !testsize.Full() {
		require.Empty(t, input(100)().Lost)
		return
	}
	run := input(n)
	start := time.Now()
	run()
	require.Less(t, time.Since(start), 10*time.Second)
}

func TestManyMappingsToSentry(t *testing.T) {
	requireLinear(t, func(n int) func() Export {
		profiles := pprofile.NewProfiles()
		b := dictionary.NewBuilder(profiles.Dictionary())
		defer b.Release()
		profile := profiles.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
		dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
		for i := range n {
			id := dictionary.StringValue(fmt.Sprintf("%032x", i+1))
			mapping := b.Mapping(dictionary.Mapping{Start: 1 << 20, Limit: 2 << 20, Attributes: []dictionary.AttributeIndex{b.Attribute(semconv.SentryDebugID, id, "")}})
			sample := profile.Samples().AppendEmpty()
			sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Mapping: mapping, Address: 1<<20 + uint64(i)})})))
			sample.TimestampsUnixNano().Append(someTime + uint64(i))
		}
		b.Finish()
		return func() Export { return ProfilesToChunks(profiles, exportOptions) }
	}, 200_000)
}

func TestManyUnitsToSentry(t *testing.T) {
	requireLinear(t, func(n int) func() Export {
		traces := ptrace.NewTraces()
		resource := traces.ResourceSpans().AppendEmpty()
		resource.Resource().Attributes().PutStr(semconv.SentryPlatform, "python")
		span := resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{1})
		span.SetStartTimestamp(someTime)
		raw := map[string]any{}
		for i := range n {
			raw[fmt.Sprintf("k%d", i)], raw[fmt.Sprintf("k%d%s", i, semconv.UnitSuffix)] = 1, "byte"
		}
		require.NoError(t, span.Attributes().FromRaw(raw))
		options := exportOptions
		options.SpansOnly = true
		return func() Export { return TracesToTransactions(traces, options) }
	}, 200_000)
}
