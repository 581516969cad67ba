// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Validation is the treatment of items that break a rule.
type Validation string

const (
	// Lenient drops the item and keeps the batch.
	Lenient Validation = "lenient"
	// Strict rejects the batch, like the backend: SDKs then delete all of it.
	Strict Validation = "strict"
)

// Validate checks the batch against the rules; decoding has already applied those of Lenient.
// Afterwards every event has an ID, a time and the payload of its type, and every span has its IDs
// and times. If mode is Strict or no item is left, the error is an *Invalid about the first bad
// item.
func (b *Batch) Validate(mode Validation) error {
	if mode == Strict && b.size >= MaxPayloadSize {
		return invalidf(LabelUnknown, ReasonTooMany, "events and spans of %d bytes, must be less than %d", b.size, MaxPayloadSize)
	}
	seen := map[uuid.UUID]bool{}
	b.Events = slices.DeleteFunc(b.Events, func(e Event) bool {
		var why *Invalid
		if mode == Strict {
			why = e.check(mode)
		}
		if why == nil && seen[e.ID.UUID] {
			why = invalidf(e.Label(), ReasonDuplicate, "two events with one id")
		}
		if why != nil {
			b.reject(why)
			return true
		}
		seen[e.ID.UUID] = true
		return false
	})
	type spanKey struct{ trace, span string }
	spans := map[spanKey]bool{}
	b.Spans = slices.DeleteFunc(b.Spans, func(s Span) bool {
		var why *Invalid
		if mode == Strict {
			why = s.check(mode)
		}
		key := spanKey{s.TraceID, s.SpanID}
		if mode == Strict {
			key.trace = "" // the backend compares span IDs only
		}
		if why == nil && spans[key] {
			why = invalidf(LabelSpan, ReasonDuplicate, "two spans with one id")
		}
		if why != nil {
			b.reject(why)
			return true
		}
		spans[key] = true
		return false
	})
	if b.invalid != nil && (mode == Strict || len(b.Events)+len(b.Spans) == 0) {
		return b.invalid
	}
	return nil
}

// Announced returns the attachments of all events, each once.
func (b *Batch) Announced() (all []Announced) {
	seen := map[uuid.UUID]bool{}
	for i := range b.Events {
		for j := range b.Events[i].Attachments {
			a := &b.Events[i].Attachments[j]
			if !seen[a.ID.UUID] {
				seen[a.ID.UUID] = true
				all = append(all, Announced{Attachment: a, Event: &b.Events[i]})
			}
		}
	}
	return all
}

// Announced is an attachment with its event.
type Announced struct {
	*Attachment
	Event *Event
}

// checks finds the first broken rule of an item.
type checks struct {
	label  string
	broken *Invalid
}

func (c *checks) fail(reason Reason, format string, args ...any) {
	if c.broken == nil {
		c.broken = invalidf(c.label, reason, format, args...)
	}
}

// length checks the length of a text in bytes, both bounds included.
func (c *checks) length(reason Reason, field, text string, least, most int) {
	if len(text) < least || len(text) > most {
		c.fail(reason, "%s has %d bytes, must have %d to %d", field, len(text), least, most)
	}
}

func (c *checks) oneOf(reason Reason, field, text string, words ...string) {
	if !slices.Contains(words, text) {
		c.fail(reason, "%s must be one of %s", field, strings.Join(words, ", "))
	}
}

func (c *checks) runes(reason Reason, field, text string, most int) {
	if n := utf8.RuneCountInString(text); n > most {
		c.fail(reason, "%s has %d characters, must have at most %d", field, n, most)
	}
}

func (c *checks) positive(reason Reason, field string, number Int) {
	if number.Value <= 0 {
		c.fail(reason, "%s must be greater than 0", field)
	}
}

var (
	networkTypes       = []string{"wifi", "cellular", "vpn", "no_network", "unknown"}
	networkGenerations = []string{"2g", "3g", "4g", "5g", "unknown"}
)

// The limits of device_manufacturer for events and spans. The backend gives no reason for the
// difference.
const (
	maxManufacturer     = 256
	maxSpanManufacturer = 32
)

func (c *checks) attributes(a *Attributes, maxManufacturer int) {
	const r = ReasonAttribute
	if a.Family() == FamilyUnknown {
		c.fail(ReasonOS, "os_name must be android, ios or ipados")
	}
	if !a.InstallationID.Set() {
		c.fail(r, "installation_id must be a UUID")
	}
	c.length(r, "measure_sdk_version", a.SDKVersion, 1, 16)
	c.length(r, "app_version", a.AppVersion, 1, 128)
	c.length(r, "app_build", a.AppBuild, 1, 32)
	c.length(r, "app_unique_id", a.AppUniqueID, 1, 128)
	c.length(r, "os_version", a.OSVersion, 0, 32)
	c.oneOf(r, "network_type", a.NetworkType, networkTypes...)
	c.oneOf(r, "network_generation", a.NetworkGeneration, networkGenerations...)
	c.length(r, "network_provider", a.NetworkProvider, 0, 64)
	c.length(r, "device_name", a.DeviceName, 0, 32)
	c.length(r, "device_model", a.DeviceModel, 0, 32)
	c.length(r, "device_manufacturer", a.DeviceManufacturer, 0, maxManufacturer)
	c.length(r, "device_type", a.DeviceType, 0, 32)
	c.length(r, "device_locale", a.DeviceLocale, 0, 64)
	c.length(r, "device_cpu_arch", a.DeviceCPUArch, 0, 16)
	c.length(r, "thread_name", a.ThreadName, 0, 128)
	c.length(r, "user_id", a.UserID, 0, 128)
	c.length(r, "patch_version", a.PatchVersion, 0, 256)
	c.length(r, "expo_runtime_version", a.ExpoRuntimeVersion, 0, 128)
	c.length(r, "expo_automatic_update_policy", a.ExpoAutomaticUpdatePolicy, 0, 32)
	c.length(r, "expo_execution_environment", a.ExpoExecutionEnvironment, 0, 32)
	c.length(r, "expo_version", a.ExpoVersion, 0, 32)
	c.length(r, "expo_sdk_version", a.ExpoSDKVersion, 0, 32)
	c.length(r, "expo_eas_project_id", a.ExpoEASProjectID, 0, 64)
	for _, number := range []struct {
		field string
		Int
		most int64
	}{
		{"device_density_dpi", a.DeviceDensityDPI, 65535},
		{"device_width_px", a.DeviceWidth, 65535},
		{"device_height_px", a.DeviceHeight, 65535},
		{"os_page_size", a.OSPageSize, 255},
	} {
		if number.Value < 0 || number.Value > number.most {
			c.fail(r, "%s must be from 0 to %d", number.field, number.most)
		}
	}
}

func (c *checks) userAttributes(u *UserAttributes) {
	const r = ReasonUserAttribute
	if len(u.Pairs) > maxUserAttributes {
		c.fail(r, "more than %d user-defined attributes", maxUserAttributes)
	}
	for _, pair := range u.Pairs {
		c.length(r, "a key", pair.Key, 1, maxUserKey)
		if strings.ContainsFunc(pair.Key, notInName) {
			c.fail(r, "a key may only have letters, digits, _ and -")
		}
		if text, ok := stringOf(pair.Value); ok {
			c.length(r, "a value", text, 0, maxUserText)
		}
	}
}

// notInName reports whether a rune is not allowed in user-defined names.
func notInName(c rune) bool {
	return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// flaws rejects, in strict mode, items that the backend's decoder would reject.
func (c *checks) flaws(mode Validation, mistyped bool) {
	if mode == Strict && mistyped {
		c.fail(ReasonFieldType, "a field is not of its type")
	}
}

func (c *checks) meta(field string, meta json.RawMessage) {
	if len(meta) > maxMeta {
		c.fail(ReasonPayload, "%s has %d bytes, must have at most %d", field, len(meta), maxMeta)
	}
}

// Family returns the family of os_name, in any letter case.
func (a *Attributes) Family() Family {
	switch strings.ToLower(a.OSName) {
	case "android":
		return Android
	case "ios", "ipados":
		return Apple
	}
	return FamilyUnknown
}
