// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// ReadIdentity is the inverse of fromsentry.fillResource, for resources of any origin: Sentry's
// attributes take precedence over OpenTelemetry's. Platform is "" if neither states a language.
func ReadIdentity(resource pcommon.Map) attr.Identity {
	id := attr.Identity{
		Platform:    platformOf(resource),
		Release:     releaseOf(resource),
		Dist:        attr.TextOf(resource, semconv.SentryDist),
		Environment: environmentOf(resource),
		Sdk:         sentry.ClientSDK{Name: attr.TextOf(resource, semconv.TelemetrySDKName), Version: attr.TextOf(resource, semconv.TelemetrySDKVersion)},
	}
	if !IsFromSentry(resource) { // what a Sentry SDK sent is sent back
		id.Release, id.Dist, id.Environment = attr.ValidRelease(id.Release), attr.ValidDist(id.Dist), attr.ValidEnvironment(id.Environment)
	}
	return id.Clipped()
}

// languages are the Sentry platforms of OpenTelemetry's languages: the inverse of attr.Platforms,
// where several platforms share a language. Android, which Sentry bills separately from Java, is
// stated in sentry.platform.
var languages = map[string]string{
	"cpp": "native", "dotnet": "csharp", "erlang": "elixir", "go": "go", "java": "java", "kotlin": "java", "nodejs": "node",
	"php": "php", "python": "python", "ruby": "ruby", "rust": "rust", "swift": "cocoa", "webjs": "javascript",
}

func platformOf(resource pcommon.Map) string {
	if sent := attr.TextOf(resource, semconv.SentryPlatform); sent != "" {
		return validPlatform(sent)
	}
	return languages[attr.TextOf(resource, semconv.TelemetrySDKLanguage)]
}

// otherPlatform is Sentry's platform for all other languages.
const otherPlatform = "other"

// validPlatform returns otherPlatform for text that is not allowed in an item header.
func validPlatform(text string) string {
	if len(text) > 64 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return otherPlatform
	}
	return text
}

// environmentOf returns the environment. Host-wide profilers know it only as an environment
// variable of the process.
func environmentOf(resource pcommon.Map) string {
	return attr.FirstText(attr.TextOf(resource, semconv.DeploymentEnvironmentName), attr.TextOf(resource, semconv.DeploymentEnvironment),
		attr.TextOf(resource, semconv.ProcessEnvironmentVariableSentryEnvironment))
}

// releaseOf is the inverse of fromsentry.splitRelease. Resources from host-wide profilers have no
// service.version, but may have the environment variables of the process and the tag of its
// container image.
func releaseOf(resource pcommon.Map) string {
	if sent := attr.TextOf(resource, semconv.SentryRelease); sent != "" || IsFromSentry(resource) {
		return sent
	}
	name, version := attr.TextOf(resource, semconv.ServiceName), attr.TextOf(resource, semconv.ServiceVersion)
	if version == "" {
		if sent := attr.TextOf(resource, semconv.ProcessEnvironmentVariableSentryRelease); sent != "" {
			return sent
		}
		version = imageTag(resource)
	}
	if attr.IsUnstatedService(name) {
		name = ""
	}
	name = attr.FirstText(name, attr.TextOf(resource, semconv.ProcessExecutableName))
	switch {
	case version == "":
		return ""
	case name == "":
		return version
	}
	return name + "@" + version
}

func imageTag(resource pcommon.Map) string {
	tags, ok := resource.Get(semconv.ContainerImageTags)
	if !ok || tags.Type() != pcommon.ValueTypeSlice || tags.Slice().Len() == 0 {
		return ""
	}
	return tags.Slice().At(0).AsString()
}

// InScope sets the SDK to the scope if the resource has none: in profiles without an SDK, the scope
// is the profiler. Sentry requires both name and version.
func InScope(id attr.Identity, scope pcommon.InstrumentationScope, o ExportOptions) attr.Identity {
	id.Sdk = cmp.Or(id.Sdk, sentry.ClientSDK{Name: scope.Name(), Version: scope.Version()})
	switch {
	case id.Sdk.Name == "":
		id.Sdk = o.SDK
	case id.Sdk.Version == "":
		id.Sdk.Version = "unknown"
	}
	return id.Clipped()
}

// IsFromSentry reports whether fromsentry wrote the resource. Fields that are absent from such a
// resource were not sent.
func IsFromSentry(resource pcommon.Map) bool {
	_, project := resource.Get(semconv.SentryProjectID)
	_, platform := resource.Get(semconv.SentryPlatform)
	return project || platform
}

// Resource is a resource with the parts that every item repeats.
type Resource struct {
	pcommon.Map
	FromSentry bool
	session    string            // profiler session for spans without one; "" = not computed yet
	machine    Contexts          // of attributes that become members of contexts
	otherJSON  []byte            // all other attributes; empty = none
	Typed      []event.Attribute // all other attributes, in the form of containers, with the keys that ingest gives them
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
			if !r.FromSentry {
				a.Key = semconv.ResourcePrefix + key
			}
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

// repeatIdentity removes the names from the identity of a span if its item may not repeat them.
func (e *traceExporter) repeatIdentity(s *tracedSpan) {
	if !e.Repeats(&e.copies, s.id.size) {
		s.id = &identity{Identity: s.id.WithoutNames(e.options.SDK)}
	}
}
