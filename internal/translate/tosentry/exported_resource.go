// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"

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
	machine    Contexts          // of attributes that become members of contexts
	otherJSON  []byte            // all other attributes; empty = none
	Typed      []event.Attribute // all other attributes, in the form of containers
	Size       int               // bytes of machine and Typed in an item
	scratch    attr.Scratch      // values of the fields above
}

// Read replaces the resource. It reuses the memory of the last one.
func (r *Resource) Read(attrs pcommon.Map) {
	r.scratch.Reset()
	*r = Resource{Map: attrs, FromSentry: IsFromSentry(attrs), machine: Contexts{all: r.machine.all[:0]}, Typed: r.Typed[:0], scratch: r.scratch}
	for _, row := range attr.MachineFields.Rows {
		value, ok := attrs.Get(row.Key)
		if !ok && row.Key == semconv.SentryDeviceArchitecture {
			value, ok = attrs.Get(semconv.HostArch)
		}
		if ok {
			json := r.scratch.JSON(value)
			context, member, _ := strings.Cut(row.Field, "/")
			r.machine.Put(context, member, json)
			r.Size += len(json)
		}
	}
	for i := range r.machine.all {
		r.machine.all[i].json = r.machine.all[i].object(&r.scratch) // once, not for each item
	}
	var other []event.NamedValue
	for key, value := range attrs.All() {
		if !hasField(key, r.FromSentry) {
			a := r.scratch.Attribute(key, value)
			r.Typed = append(r.Typed, a)
			r.Size += len(a.Key) + len(a.Value) + len(`"":{"type":"boolean","value":},`)
			other = append(other, event.NamedValue{Name: key, Value: r.scratch.JSON(value)})
		}
	}
	if len(other) > 0 {
		r.otherJSON = r.scratch.Object(pcommon.Map{}, other)
	}
}

// read reads a resource and the identity of each scope, and returns the usable spans.
func (e *traceExporter) read(resource ptrace.ResourceSpans) (all []tracedSpan) {
	e.resource = new(Resource)
	e.resource.Read(resource.Resource().Attributes())
	ofResource := ReadIdentity(e.resource.Map)
	for _, scope := range resource.ScopeSpans().All() {
		id := InScope(ofResource, scope.Scope(), e.options)
		all = collectSpans(scope.Spans(), &identity{id, id.NameBytes()}, &e.Export, all)
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

// repeatResource reports whether an item may repeat the resource.
func (e *traceExporter) repeatResource() bool { return e.spend(e.resource.Size) }

// repeatIdentity removes the names from the identity of a span if its item may not repeat them.
func (e *traceExporter) repeatIdentity(s *tracedSpan) {
	if !e.spend(s.id.size) {
		s.id = &identity{Identity: s.id.WithoutNames(e.options.SDK)}
	}
}

// spend reports whether an item may repeat data of its resource. Copies use at most half of the
// output limit of a message; items without a copy are counted.
func (e *traceExporter) spend(size int) bool {
	if size > e.copies {
		e.flaw("resource", 1)
		return false
	}
	e.copies -= size
	return true
}
