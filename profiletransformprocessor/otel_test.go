// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// examples/otel: a profile and spans that never came from Sentry.
func plainOTel(t *testing.T) (pprofile.Profiles, ptrace.Traces) {
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(golden.Root(t), "examples", "otel", name))
		require.NoError(t, err)
		return text
	}
	profiles, err := (&pprofile.JSONUnmarshaler{}).UnmarshalProfiles(read("profiles.json"))
	require.NoError(t, err)
	dictionarytest.MustBeValid(t, profiles)
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(read("traces.json"))
	require.NoError(t, err)
	return profiles, traces
}

// seen is a sample at an instant, in milliseconds from the start of the profile.
type seen struct {
	thread string
	at     int
}

const (
	cartRequest = "eee19b7ec3c1b174"
	cartQuery   = "eee19b7ec3c1b175"
)

func spansOf(p pprofile.Profiles) map[seen]string {
	spans := map[seen]string{}
	profile := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	for _, sample := range profile.Samples().All() {
		thread := p.Dictionary().AttributeTable().At(int(sample.AttributeIndices().At(0))).Value().AsString()
		for _, instant := range sample.TimestampsUnixNano().All() {
			at := int((instant - uint64(profile.Time())) / 1e6)
			spans[seen{thread, at}] = p.Dictionary().LinkTable().At(int(sample.LinkIndex())).SpanID().String()
		}
	}
	return spans
}

// A profiler and an SDK of OpenTelemetry, whose data come in either order.
func TestPlainOTel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := map[seen]string{{"12", 20}: cartRequest, {"12", 60}: cartQuery, {"12", 180}: "", {"13", 60}: ""}
		for _, profileFirst := range []bool{true, false} {
			h := start(t, "link: {preset: otel, wait: 300ms}")
			profiles, traces := plainOTel(t)
			if profileFirst {
				require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), profiles))
				require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
			} else {
				require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
				require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), profiles))
			}
			linked := h.received(1)[0]
			dictionarytest.MustBeValid(t, linked)
			assert.Equal(t, want, spansOf(linked))
		}
	})
}

// A profiler outside of the process knows the host and the process, not the instance; the SDK knows
// both.
func TestPlainOTelByProcess(t *testing.T) {
	h := start(t, "link: {preset: otel, wait: 0s}")
	profiles, traces := plainOTel(t)
	ofProfiles, ofSpans := profiles.ResourceProfiles().At(0).Resource().Attributes(), traces.ResourceSpans().At(0).Resource().Attributes()
	ofProfiles.Remove("service.instance.id")
	for _, attributes := range []pcommon.Map{ofProfiles, ofSpans} {
		attributes.PutStr("host.name", "web-1")
		attributes.PutInt("process.pid", 4711)
	}
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
	other := ptrace.NewTraces()
	traces.CopyTo(other)
	other.ResourceSpans().At(0).Resource().Attributes().PutInt("process.pid", 4712)
	other.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1).SetSpanID(pcommon.SpanID{1})
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), other))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), profiles))
	want := map[seen]string{{"12", 20}: cartRequest, {"12", 60}: cartQuery, {"12", 180}: "", {"13", 60}: ""}
	assert.Equal(t, want, spansOf(h.received(1)[0]), "the spans of process 4712 have no part in it")
}

// Two containers of a host, each with a process 1.
func TestPlainOTelByContainer(t *testing.T) {
	h := start(t, "link: {preset: otel, wait: 0s}")
	profiles, traces := plainOTel(t)
	ofProfiles, ofSpans := profiles.ResourceProfiles().At(0).Resource().Attributes(), traces.ResourceSpans().At(0).Resource().Attributes()
	for _, attributes := range []pcommon.Map{ofProfiles, ofSpans} {
		attributes.Remove("service.instance.id")
		attributes.PutStr("container.id", "a")
		attributes.PutStr("host.name", "web-1")
		attributes.PutInt("process.pid", 1)
	}
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
	other := ptrace.NewTraces()
	traces.CopyTo(other)
	other.ResourceSpans().At(0).Resource().Attributes().PutStr("container.id", "b")
	for i, span := range other.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{byte(i + 1)})
	}
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), other))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), profiles))
	want := map[seen]string{{"12", 20}: cartRequest, {"12", 60}: cartQuery, {"12", 180}: "", {"13", 60}: ""}
	assert.Equal(t, want, spansOf(h.received(1)[0]))
}
