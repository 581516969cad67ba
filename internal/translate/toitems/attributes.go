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
	id := tosentry.InScope(tosentry.ReadIdentity(resource.Map), scope, o.ExportOptions)
	return &source{Resource: resource, scope: scope, Identity: id, names: id.NameBytes()}
}

// identity returns the identity for an item, without names if the output would exceed its limit.
func (e *exporter) identity(s *source) attr.Identity {
	if !e.spend(s.names) {
		e.Flaws = discard.AddFlaw(e.Flaws, "resource", 1)
		return s.WithoutNames(e.options.SDK)
	}
	return s.Identity
}

// share sets the attributes that elements repeat. Most messages with events have no elements.
func (s *source) share() {
	s.EachField(false, s.text)
	s.text(semconv.SentryPlatform, s.Platform)
	if !s.FromSentry {
		s.text(semconv.OtelScopeName, s.scope.Name())
	}
	s.shared = append(s.shared, s.Typed...)
	s.json = event.AppendMembers([]byte{'{'}, s.shared)[1:]
}

func (s *source) text(key, text string) {
	if text != "" {
		s.shared = append(s.shared, event.Attribute{Key: key, Type: "string", Value: attr.JsonString(text)})
	}
}

// withShared adds the attributes that an element repeats, and whose keys it does not have: usually
// all of them, as JSON. It omits and counts them if the output would exceed its limit.
func (e *exporter) withShared(all []event.Attribute, s *source, own pcommon.Map) ([]event.Attribute, []byte) {
	if s.json == nil {
		s.share()
	}
	if !e.spend(len(s.json)) {
		e.Flaws = discard.AddFlaw(e.Flaws, "resource", 1)
		return all, nil
	}
	taken := keysOf(own)
	for i := range s.shared {
		if taken(s.shared[i].Key) {
			return appendMissing(all, s.shared, taken), nil
		}
	}
	return all, s.json
}

func appendMissing(all, shared []event.Attribute, taken func(key string) bool) []event.Attribute {
	for i := range shared {
		if !taken(shared[i].Key) {
			all = append(all, shared[i])
		}
	}
	return all
}

// keysOf returns a function that reports whether an attribute with a key exists.
func keysOf(attrs pcommon.Map) func(key string) bool {
	if attrs.Len() <= fewAttributes {
		return func(key string) bool { _, ok := attrs.Get(key); return ok }
	}
	keys := make(map[string]bool, attrs.Len())
	for key := range attrs.All() {
		keys[key] = true
	}
	return func(key string) bool { return keys[key] }
}

// fewAttributes is the number of attributes up to which a search is faster than a map.
const fewAttributes = 32

func flag(key string) event.Attribute {
	return event.Attribute{Key: key, Type: "boolean", Value: []byte("true")}
}
