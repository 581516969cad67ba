// SPDX-License-Identifier: Apache-2.0

package store

import (
	"container/list"
	"strings"
	"time"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
)

// Signal is the signal of a message, as an attribute of metrics.
type Signal string

// The signals.
const (
	Profiles Signal = "profiles"
	Traces   Signal = "traces"
	Logs     Signal = "logs"
	Metrics  Signal = "metrics"
)

// Message is a message of a pipeline: it is stored and evicted as a whole.
type Message struct {
	Signal    Signal
	Arrived   time.Time
	Profiles  []*Profile
	Fragments []*Fragment // of its spans, log records or metrics

	// Number is assigned by the Recorder; 0: none.
	Number uint64

	// Tenant is the sender of the message; the tenants share the store.
	Tenant tenant.Tenant

	spans    []operations.Span  // until it is stored
	nodes    []*operations.Node // of its spans
	parents  int                // that are not in the message
	coverage []coverage

	otlp []byte // encoded
}

// coverage is the time that the spans of a service in a message cover.
type coverage struct {
	service    string
	start, end uint64
}

// serviceName returns the name of the service of a resource, or the name that SDKs use for an
// unknown one.
func serviceName(resource pcommon.Resource) string {
	if name, ok := resource.Attributes().Get(semconv.ServiceName); ok && name.AsString() != "" {
		return displayText(name.AsString())
	}
	return "unknown_service"
}

// Origin is the program that sent a record or a span. Its texts share no memory with the message.
type Origin struct{ Service, Release, Environment, SDK string }

func originOf(resource pcommon.Resource) Origin {
	first := func(keys ...string) string {
		for _, key := range keys {
			if value, ok := resource.Attributes().Get(key); ok && value.AsString() != "" {
				return displayText(value.AsString())
			}
		}
		return ""
	}
	name, version := first(semconv.TelemetrySDKName), first(semconv.TelemetrySDKVersion)
	return Origin{
		Service: serviceName(resource), Release: displayText(releaseOf(resource)), SDK: strings.TrimSpace(name + " " + version),
		Environment: first(semconv.DeploymentEnvironmentName, semconv.DeploymentEnvironment, semconv.SentryEnvironment),
	}
}

// releaseOf returns the release of the service of a resource, or else its version.
func releaseOf(resource pcommon.Resource) string {
	for _, key := range []string{semconv.SentryRelease, semconv.ServiceVersion} {
		if release, ok := resource.Attributes().Get(key); ok {
			return release.AsString()
		}
	}
	return ""
}

// displayText returns a text as the page shows it. It shares no memory with the message.
func displayText(text string) string { return timeline.Printable(text, timeline.MaxText) }

// EncodedSize returns the size of the message as OTLP.
func (m *Message) EncodedSize() int { return len(m.otlp) }

// OTLP returns the encoded message, which must not be changed.
func (m *Message) OTLP() []byte { return m.otlp }

// FirstID returns the ID of the first profile, or 0.
func (m *Message) FirstID() uint64 {
	if len(m.Profiles) == 0 {
		return 0
	}
	return m.Profiles[0].ID
}

// LastID returns the ID of the last profile, or 0.
func (m *Message) LastID() uint64 {
	if len(m.Profiles) == 0 {
		return 0
	}
	return m.Profiles[len(m.Profiles)-1].ID
}

func (m *Message) empty() bool { return len(m.Profiles) == 0 && len(m.Fragments) == 0 }

// size estimates the memory of the message to within a fifth. The summary of a message with many
// spans is large.
func (m *Message) size() int64 {
	size := perMessage + len(m.Tenant.Name) + len(m.otlp)
	for _, p := range m.Profiles {
		size += int(unsafe.Sizeof(*p)) + perProfile + len(p.ProfileID) + len(p.Name) + len(p.Service) + len(p.Release) + len(p.Measure.Type) + len(p.Measure.Unit) + len(p.Spans)*perSpan
		if len(p.Spans) > 0 {
			size += perMap
		}
	}
	for _, f := range m.Fragments {
		size += int(unsafe.Sizeof(*f)) + len(f.root) + len(f.first) + len(f.Service) + perTrace
	}
	for _, c := range m.coverage {
		size += int(unsafe.Sizeof(c)) + len(c.service)
	}
	return int64(size + len(m.spans)*operations.SpanBytes + m.parents*operations.NodeBytes)
}

const (
	// perMessage: the message itself, its entry in the queue, and its tenant's entry.
	perMessage = 1 << 10
	// perTrace: a list, an element of it, and an entry of a map by trace.
	perTrace = int(unsafe.Sizeof(list.List{})+unsafe.Sizeof(list.Element{})) + 4*int(unsafe.Sizeof(pcommon.TraceID{}))
	// perProfile: an entry of a map by ID.
	perProfile = 64
	// perMap: a map has at least eight entries.
	perMap = 8 * int(unsafe.Sizeof(timeline.Link{})+unsafe.Sizeof(Sum{}))
	// perSpan: an entry of a map by span, at the usual load of maps, and one by trace.
	perSpan = 2*int(unsafe.Sizeof(timeline.Link{})+unsafe.Sizeof(Sum{})) + perTrace
)
