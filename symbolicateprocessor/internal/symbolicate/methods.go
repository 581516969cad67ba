// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
)

// obfuscation is the ProGuard mapping of a source.
type obfuscation struct {
	uuid    string // "" = none
	mapping *proguard.Mapping
	status  symbols.Status // "" = not asked yet
	// signatures are those of the profiles, with the classes of the mapping.
	signatures map[dictionary.AttributeIndex]*proguard.Signature
}

// ask asks for the mapping once.
func (o *obfuscation) ask(files Files) symbols.Status {
	if o.status == "" {
		o.mapping, o.status = files.Mapping(o.uuid)
	}
	return o.status
}

// signature reads a signature once, however many frames refer to it.
func (o *obfuscation) signature(e *editor, i dictionary.AttributeIndex) *proguard.Signature {
	if i == 0 {
		return nil
	}
	known, ok := o.signatures[i]
	if !ok {
		if o.signatures == nil {
			o.signatures = map[dictionary.AttributeIndex]*proguard.Signature{}
		}
		known = o.mapping.Signature(e.label(i))
		o.signatures[i] = known
	}
	return known
}

// MappingID returns the UUID of the first ProGuard mapping in the images that Sentry's SDKs report,
// or "" if there is none.
func MappingID(images pcommon.Value) string {
	for image := range attr.Maps(images) {
		if attr.TextOf(image, "type") != "proguard" {
			continue
		}
		if id := attr.FirstText(attr.TextOf(image, "uuid"), attr.TextOf(image, "debug_id")); id != "" {
			return id
		}
	}
	return ""
}

// MappingOf returns the ID of the ProGuard mapping that a resource states, or "": a UUID, or the
// build of an app with Measure's SDK, which reports no UUID.
func MappingOf(resource pcommon.Map) string {
	if id := attr.TextOf(resource, semconv.AppDebugProguardUUID); id != "" {
		return id
	}
	service, version, build := attr.TextOf(resource, semconv.ServiceName), attr.TextOf(resource, semconv.ServiceVersion), attr.TextOf(resource, semconv.AppBuildID)
	if attr.TextOf(resource, semconv.TelemetrySDKName) != "measure" || version == "" || build == "" {
		return ""
	}
	return BuildID(service, version, build)
}

// BuildID returns the ID of the mapping of a build. It is no UUID.
func BuildID(service, version, build string) string {
	return service + "\x00" + version + "\x00" + build
}

// method looks up a frame of an obfuscated Android or JVM program, and writes the result. Classes
// that the mapping does not list belong to the platform: their frames stay as they are.
func (e *editor) method(f candidate, u *use) (status symbols.Status) {
	o, raw := &u.source.obfuscation, e.label(e.labels.class)
	e.found, status = o.mapping.Lookup(e.found[:0], proguard.Place{
		Class: raw, Method: e.view.Text(f.function.Name), Signature: o.signature(e, e.labels.signature), Line: f.line.Line,
	})
	if status == symbols.NoSymbol {
		return status
	}
	original := e.splitClass()
	e.write(f, status)
	if original != raw {
		e.replaceModule(f.at, raw, original)
	}
	return status
}

// splitClass returns the class of the outermost function, and strips it from the names of the found
// functions: the class of a frame is an attribute of its location. Inlined functions from other
// classes keep their class names.
func (e *editor) splitClass() (class string) {
	outermost := e.found[len(e.found)-1].Function
	class = outermost[:max(0, strings.LastIndexByte(outermost, '.'))]
	for n := range e.found {
		f := &e.found[n]
		if method := strings.TrimPrefix(f.Function, class+"."); !strings.Contains(method, ".") {
			f.Function = method
		}
	}
	return class
}

// replaceModule stores the original class of a location, and keeps the raw class in another
// attribute.
func (e *editor) replaceModule(i dictionary.LocationIndex, raw, original string) {
	list := e.dict.LocationTable().At(int(i)).AttributeIndices()
	for n, index := range list.All() {
		if dictionary.AttributeIndex(index) == e.labels.class {
			list.SetAt(n, int32(e.edit.AttrString(semconv.SentryFrameModule, clip(original))))
		}
	}
	if e.rawModules[e.labels.class] == 0 {
		e.rawModules[e.labels.class] = e.edit.AttrString(semconv.SentryFrameRawModule, raw)
	}
	put(list, e.rawModules[e.labels.class])
}
