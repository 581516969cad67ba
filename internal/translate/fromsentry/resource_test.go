// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// TestOneResourceForAllSignals: what items leave to the envelope's header is the same on everything
// made of them, or a profile and its spans, a check-in's record and its metric, would be of two
// services.
func TestOneResourceForAllSignals(t *testing.T) {
	src := Source{ProjectID: "42", Release: "shop@1.2", Environment: "prod", SDK: sentry.ClientSDK{Name: "sentry.ruby", Version: "6.6.2"}}
	chunk, _ := ChunkMeasurementsToMetrics(&profile.Chunk{}, src)
	resources := map[string]pcommon.Resource{
		"transaction":   TransactionToTraces(&event.Transaction{}, src).ResourceSpans().At(0).Resource(),
		"span":          SpanToTraces(&event.Span{}, src).ResourceSpans().At(0).Resource(),
		"spans":         SpansToTraces(&event.SpanContainer{}, src).ResourceSpans().At(0).Resource(),
		"event":         EventToLogs(&event.ErrorEvent{}, src).ResourceLogs().At(0).Resource(),
		"logs":          LogsToLogs(&event.LogContainer{}, src).ResourceLogs().At(0).Resource(),
		"user report":   UserReportToLogs(&event.UserReport{}, src).ResourceLogs().At(0).Resource(),
		"attachment":    ItemToLogs(sentry.ItemHeader{Type: sentry.ItemAttachment}, 1, src).ResourceLogs().At(0).Resource(),
		"check-in":      CheckInToLogs(&event.CheckIn{}, src).ResourceLogs().At(0).Resource(),
		"its metric":    CheckInToMetrics(&event.CheckIn{}, src).ResourceMetrics().At(0).Resource(),
		"metrics":       traceMetrics(&event.MetricContainer{}, src).ResourceMetrics().At(0).Resource(),
		"session":       SessionToMetrics(&event.Session{}, src).ResourceMetrics().At(0).Resource(),
		"sessions":      SessionsToMetrics(&event.Sessions{}, src).ResourceMetrics().At(0).Resource(),
		"client report": ClientReportToMetrics(&event.ClientReport{}, src).ResourceMetrics().At(0).Resource(),
		"profile":       ProfileMeasurementsToMetrics(&profile.Profile{}, src).ResourceMetrics().At(0).Resource(),
		"chunk":         chunk.ResourceMetrics().At(0).Resource(),
	}
	for name, resource := range resources {
		require.Equal(t, resources["transaction"].Attributes().AsRaw(), resource.Attributes().AsRaw(), name)
	}
}

// TestConfiguredResourceWins over what contexts say of the machine too: a project has one resource
// in all signals.
func TestConfiguredResourceWins(t *testing.T) {
	src := Source{ProjectID: "42"}
	for _, key := range []string{"host.arch", "os.name", "os.version", "process.runtime.name", "device.model.identifier"} {
		src.Resource = append(src.Resource, Attribute{key, pcommon.NewValueStr("configured")})
	}
	contexts := []event.NamedValue{
		{Name: "device", Value: []byte(`{"arch":"aarch64","model_id":"m"}`)},
		{Name: "os", Value: []byte(`{"name":"Linux","version":"6.8"}`)},
		{Name: "runtime", Value: []byte(`{"name":"CPython","version":"3"}`)},
	}
	for name, resource := range map[string]pcommon.Resource{
		"transaction": TransactionToTraces(&event.Transaction{ErrorEvent: event.ErrorEvent{Contexts: contexts}, Root: &event.Span{}}, src).
			ResourceSpans().At(0).Resource(),
		"event":    EventToLogs(&event.ErrorEvent{Contexts: contexts}, src).ResourceLogs().At(0).Resource(),
		"feedback": FeedbackToLogs(&event.ErrorEvent{Contexts: contexts}, src).ResourceLogs().At(0).Resource(),
	} {
		for _, configured := range src.Resource {
			value, _ := resource.Attributes().Get(configured.Key)
			require.Equal(t, "configured", value.Str(), "%s: %s", name, configured.Key)
		}
	}
}

// TestSplitRelease: as Sentry splits package and version.
func TestSplitRelease(t *testing.T) {
	for release, want := range map[string][2]string{
		"shop@1.2": {"shop", "1.2"}, "@scope/shop@1.2": {"@scope/shop", "1.2"}, "1.2": {"", "1.2"}, "@1.2": {"", "@1.2"}, "": {"", ""}, "x": {"", "x"}, "x@": {"x", ""}, "a@b@c": {"a", "b@c"},
	} {
		name, version := splitRelease(release)
		assert.Equal(t, want, [2]string{name, version}, release)
	}
}
