// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
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

// imageTag returns the first tag of the container image.
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
