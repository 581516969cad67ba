// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// Identity describes the origin of an item. The resources of all signals are derived only from it,
// so that a profile and its spans belong to the same service.
type Identity struct {
	Platform, Release, Dist, Environment string
	Sdk                                  sentry.ClientSDK
	Machine                              *profile.Profile // the V1 profile that describes the machine; nil = unknown, as for V2 chunks
}

// NameBytes returns the number of bytes of the names in an item and in the header of its envelope.
func (id Identity) NameBytes() (size int) {
	for _, name := range []string{id.Release, id.Dist, id.Environment, id.Sdk.Name, id.Sdk.Version} {
		size += 2 * len(JsonString(name))
	}
	return size
}

// WithoutNames returns the identity of an item that may not repeat the names of its resource.
func (id Identity) WithoutNames(sdk sentry.ClientSDK) Identity {
	return Identity{Platform: id.Platform, Sdk: sdk}
}

// Clipped returns the identity with clipped texts, because each item repeats them.
func (id Identity) Clipped() Identity {
	for _, text := range id.texts() {
		*text = Clip(*text, MaxNameBytes)
	}
	return id
}

// Cloned returns a copy of the identity with texts that do not refer to the payload: copies, or
// those of a known identity if they are equal, as for all but the first item of a program.
func (id Identity) Cloned(known Identity) Identity {
	own := known.texts()
	for i, text := range id.texts() {
		if *text == *own[i] {
			*text = *own[i]
		} else {
			*text = strings.Clone(*text)
		}
	}
	return id
}

func (id *Identity) texts() [6]*string {
	return [...]*string{&id.Platform, &id.Release, &id.Dist, &id.Environment, &id.Sdk.Name, &id.Sdk.Version}
}

// identityFields are the attributes by which elements of containers repeat their identity, some of
// them only in spans.
var identityFields = []struct {
	key    string
	ofSpan bool
	field  func(*Identity) *string
}{
	{semconv.SentryRelease, false, func(id *Identity) *string { return &id.Release }},
	{semconv.SentryEnvironment, false, func(id *Identity) *string { return &id.Environment }},
	{semconv.SentryDist, true, func(id *Identity) *string { return &id.Dist }},
	{semconv.SentryPlatform, true, func(id *Identity) *string { return &id.Platform }},
	{semconv.SentrySDKName, false, func(id *Identity) *string { return &id.Sdk.Name }},
	{semconv.SentrySDKVersion, false, func(id *Identity) *string { return &id.Sdk.Version }},
}

// Field returns the field that an attribute of an element states, or nil.
func (id *Identity) Field(key string, ofSpan bool) *string {
	for i := range identityFields {
		if f := &identityFields[i]; f.key == key && (ofSpan || !f.ofSpan) {
			return f.field(id)
		}
	}
	return nil
}

// EachField visits the attributes by which an element states the identity: the inverse of Field.
func (id *Identity) EachField(ofSpan bool, visit func(key, text string)) {
	for i := range identityFields {
		if f := &identityFields[i]; ofSpan || !f.ofSpan {
			visit(f.key, *f.field(id))
		}
	}
}

// IsUnstatedService reports whether a service has no name, or the default of OpenTelemetry's SDKs
// (unknown_service, or unknown_service:python), which they send if none is configured.
func IsUnstatedService(name string) bool {
	return name == "" || strings.HasPrefix(name, "unknown_service")
}
