// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"cmp"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// profileIdentity returns the identity of a V1 profile. Its transaction or the envelope header
// states its SDK.
func profileIdentity(p *profile.Profile, src Source) attr.Identity {
	return recalled(attr.Identity{Platform: p.Platform, Release: p.Release, Dist: p.Dist, Environment: p.Environment, Machine: p}, src)
}

func chunkIdentity(c *profile.Chunk, src Source) attr.Identity {
	id := completed(attr.Identity{Platform: c.Platform, Release: c.Release, Dist: c.Dist, Environment: c.Environment, Sdk: c.ClientSDK}, src)
	id.Environment = attr.FirstText(id.Environment, id.DefaultEnvironment())
	return id
}

func checkInIdentity(c *event.CheckIn, src Source) attr.Identity {
	return completed(attr.Identity{Platform: c.Platform, Release: c.Release, Environment: c.Environment, Sdk: c.SDK}, src)
}

// completed fills in missing identity fields from the envelope header. Most SDKs state their name
// only there; Python omits it for sessions and client reports, and states it in the credentials.
// The texts do not refer to the payload.
func completed(id attr.Identity, src Source) attr.Identity {
	id.Release = attr.FirstText(id.Release, src.Release)
	id.Environment = attr.FirstText(id.Environment, src.Environment)
	id.Sdk = cmp.Or(id.Sdk, src.SDK, src.ClientSDK)
	id.Platform = attr.FirstText(id.Platform, attr.SDKPlatform(id.Sdk.Name, src.UserAgent))
	return id.Clipped().Cloned(src.Known)
}

// recalled completes the identity of an item whose type lacks fields for it, with the values that
// the process stated elsewhere: client reports, user reports and attachments have no release, and
// sessions no SDK. An item of another release belongs to another process.
func recalled(id attr.Identity, src Source) attr.Identity {
	known := src.Known
	id.Release = attr.FirstText(id.Release, src.Release)
	if id.Release == "" || id.Release == known.Release {
		id.Release = known.Release
		id.Environment = attr.FirstText(id.Environment, src.Environment, known.Environment)
		id.Dist = attr.FirstText(id.Dist, known.Dist)
		id.Platform = attr.FirstText(id.Platform, known.Platform)
		id.Sdk = cmp.Or(id.Sdk, src.SDK, known.Sdk)
	}
	return completed(id, src)
}

// describe sets the resource and the scope of a message. The scope is the SDK, which contains the
// profiler.
func describe[R interface {
	SetSchemaUrl(url string)
	Resource() pcommon.Resource
}, S interface {
	SetSchemaUrl(url string)
	Scope() pcommon.InstrumentationScope
}](resource R, scope S, id attr.Identity, src Source) {
	resource.SetSchemaUrl(semconv.SchemaURL)
	fillResource(resource.Resource().Attributes(), id, src)
	scope.SetSchemaUrl(semconv.SchemaURL)
	scope.Scope().SetName(id.Sdk.Name)
	scope.Scope().SetVersion(id.Sdk.Version)
}

func fillResource(resource pcommon.Map, id attr.Identity, src Source) {
	name, version := splitRelease(strings.TrimSpace(id.Release))
	attr.PutShared(resource, semconv.ServiceName, attr.FirstText(name, src.fallbackName()))
	attr.PutShared(resource, semconv.ServiceVersion, version)
	attr.PutShared(resource, semconv.DeploymentEnvironmentName, id.Environment)
	attr.PutShared(resource, semconv.TelemetrySDKName, id.Sdk.Name)
	attr.PutShared(resource, semconv.TelemetrySDKVersion, id.Sdk.Version)
	attr.PutShared(resource, semconv.TelemetrySDKLanguage, id.Language())
	attr.PutText(resource, semconv.SentryProjectID, src.ProjectID)
	attr.PutShared(resource, semconv.SentryPlatform, id.Platform)
	attr.PutShared(resource, semconv.SentryRelease, id.Release)
	attr.PutShared(resource, semconv.SentryDist, id.Dist)
	if id.Machine != nil {
		fillMachine(resource, id.Machine)
	}
	src.configure(resource)
	if src.Stated != nil {
		src.Stated(id)
	}
}

// configure sets the configured resource attributes of the project. They override the payload.
func (src Source) configure(resource pcommon.Map) {
	for _, configured := range src.Resource {
		configured.Value.CopyTo(resource.PutEmpty(configured.Key))
	}
}

// splitRelease splits "package@version" as Sentry does. A leading npm scope is part of the package.
// A release without an @ is a version.
func splitRelease(release string) (name, version string) {
	if len(release) > 1 {
		if at := strings.IndexByte(release[1:], '@'); at >= 0 {
			return release[:at+1], release[at+2:]
		}
	}
	return "", release
}

// fillMachine adds the description of the machine in a V1 profile.
func fillMachine(resource pcommon.Map, p *profile.Profile) {
	putArchitecture(resource, deref(p.Device.Architecture))
	attr.PutText(resource, semconv.DeviceManufacturer, deref(p.Device.Manufacturer))
	attr.PutText(resource, semconv.DeviceModelIdentifier, deref(p.Device.Model))
	attr.PutText(resource, semconv.DeviceLocale, deref(p.Device.Locale))
	if p.Device.IsEmulator != nil {
		resource.PutBool(semconv.DeviceSimulator, *p.Device.IsEmulator)
	}
	attr.PutText(resource, semconv.OSType, attr.OsTypes[strings.ToLower(deref(p.OS.Name))])
	attr.PutText(resource, semconv.OSName, deref(p.OS.Name))
	attr.PutText(resource, semconv.OSVersion, deref(p.OS.Version))
	attr.PutText(resource, semconv.OSBuildID, deref(p.OS.BuildNumber))
	attr.PutText(resource, semconv.ProcessRuntimeName, p.Runtime.Name)
	attr.PutText(resource, semconv.ProcessRuntimeVersion, p.Runtime.Version)
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func eventIdentity(e *event.ErrorEvent, src Source) attr.Identity {
	return completed(attr.Identity{Platform: e.Platform, Release: e.Release, Dist: e.Dist, Environment: e.Environment, Sdk: e.SDK.ClientSDK}, src)
}

// standaloneIdentity returns the identity of a span without a transaction. Browsers state the
// release and the environment in its data.
func standaloneIdentity(s *event.Span, src Source) attr.Identity {
	return completed(attr.Identity{
		Platform:    s.Platform,
		Release:     attr.FirstText(DataText(s.Data, semconv.SentryRelease), DataText(s.Data, "release")),
		Environment: attr.FirstText(DataText(s.Data, semconv.SentryEnvironment), DataText(s.Data, "environment")),
	}, src)
}

// ContainerIdentity returns the identity of streamed spans. SDKs repeat it in attributes, some of
// them only on segments. The resource gets the first value of each field; spans keep only values
// that differ.
func ContainerIdentity(c *event.SpanContainer, src Source) (id attr.Identity) {
	for i := range c.Spans {
		for j := range c.Spans[i].Attributes {
			a := &c.Spans[i].Attributes[j]
			if field := id.Field(a.Key, true); field != nil && *field == "" {
				*field = attr.JsonText(a.Value)
			}
		}
	}
	return completed(id, src)
}

// states reports whether the resource has the same value.
func states(id *attr.Identity, a *event.Attribute) bool {
	field := id.Field(a.Key, true)
	return field != nil && *field != "" && attr.IsJsonText(a.Value, *field)
}
