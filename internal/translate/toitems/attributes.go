// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// newSource returns a source with its identity and its other resource attributes, for which
// Sentry's format has no field except in the elements.
func newSource(resource *tosentry.Resource, scope pcommon.InstrumentationScope, o *Options) *source {
	s := &source{Resource: resource, Identity: tosentry.InScope(tosentry.ReadIdentity(resource.Map), scope, o.ExportOptions)}
	s.text(semconv.SentryRelease, s.Release)
	s.text(semconv.SentryEnvironment, s.Environment)
	s.text(semconv.SentrySDKName, s.Sdk.Name)
	s.text(semconv.SentrySDKVersion, s.Sdk.Version)
	if !resource.FromSentry {
		s.text(semconv.OtelScopeName, scope.Name())
	}
	s.shared = append(s.shared, resource.Typed...)
	for i := range s.shared {
		s.size += len(s.shared[i].Key) + len(s.shared[i].Value) + len(`"":{"type":"boolean","value":},`)
	}
	return s
}

func (s *source) text(key, text string) {
	if text != "" {
		s.shared = append(s.shared, event.Attribute{Key: key, Type: "string", Value: attr.JsonString(text)})
	}
}

// repeated returns the attributes that an element repeats. It omits and counts them if the output
// would exceed its limit.
func (e *exporter) repeated(s *source) []event.Attribute {
	if !e.spend(s.size) {
		e.Flaws = discard.AddFlaw(e.Flaws, "resource", 1)
		return nil
	}
	return s.shared
}

// withShared appends the shared attributes whose keys the element does not have.
func withShared(all, shared []event.Attribute, own pcommon.Map) []event.Attribute {
	if own.Len() <= fewAttributes {
		for i := range shared {
			if _, taken := own.Get(shared[i].Key); !taken {
				all = append(all, shared[i])
			}
		}
		return all
	}
	taken := make(map[string]bool, own.Len())
	for key := range own.All() {
		taken[key] = true
	}
	for i := range shared {
		if !taken[shared[i].Key] {
			all = append(all, shared[i])
		}
	}
	return all
}

// fewAttributes is the number of attributes up to which a search is faster than a map.
const fewAttributes = 32

func flag(key string) event.Attribute {
	return event.Attribute{Key: key, Type: "boolean", Value: []byte("true")}
}
