// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Resource is a resource with the parts that every item repeats.
type Resource struct {
	pcommon.Map
	FromSentry bool
	session    string            // profiler session for spans without one; "" = not computed yet
	machine    []member          // attributes that become members of contexts
	otherJSON  []byte            // all other attributes; empty = none
	Typed      []event.Attribute // all other attributes, in the form of containers
	Size       int               // bytes of machine and Typed in an item
}

// ReadResource reads the attributes of a resource.
func ReadResource(attrs pcommon.Map) *Resource {
	r := &Resource{Map: attrs, FromSentry: IsFromSentry(attrs)}
	for _, key := range machineKeys {
		from := attr.FirstText(attr.ResourceContextKeys[key], semconv.SentryDeviceArchitecture)
		value, ok := attrs.Get(from)
		if !ok && from == semconv.SentryDeviceArchitecture {
			value, ok = attrs.Get(semconv.HostArch)
		}
		if ok {
			m := member{key.Context, event.NamedValue{Name: key.Name, Value: attr.JsonOf(value)}}
			r.machine = append(r.machine, m)
			r.Size += len(m.Value)
		}
	}
	other := otherResource(attrs)
	for key, value := range other.All() {
		a := attr.TypedAttribute(key, value)
		r.Typed = append(r.Typed, a)
		r.Size += len(a.Key) + len(a.Value) + len(`"":{"type":"boolean","value":},`)
	}
	if other.Len() > 0 {
		r.otherJSON = new(attr.Scratch).Object(other, nil)
	}
	return r
}

// read reads a resource and the identity of each scope, and returns the usable spans.
func (e *traceExporter) read(resource ptrace.ResourceSpans) (all []tracedSpan) {
	e.resource = ReadResource(resource.Resource().Attributes())
	ofResource := ReadIdentity(e.resource.Map)
	for _, scope := range resource.ScopeSpans().All() {
		id := InScope(ofResource, scope.Scope(), e.options)
		all = collectSpans(scope.Spans(), &id, &e.Export, all)
	}
	return all
}

// session returns the profiler session derived from the resource.
func (e *traceExporter) session() string {
	if e.resource.session == "" {
		e.resource.session = attr.ProfilerSession(e.resource.Map, e.options.ProfilerIDAttributes, !e.options.WallSessions)
	}
	return e.resource.session
}

// repeatResource reports whether an item may repeat the resource. Copies use at most half of the
// output limit of a message; items without a copy are counted.
func (e *traceExporter) repeatResource() bool {
	if e.resource.Size > e.copies {
		e.flaw("resource", 1)
		return false
	}
	e.copies -= e.resource.Size
	return true
}
