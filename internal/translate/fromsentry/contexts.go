// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// contextKeys are the conventional names of members of contexts, by "context.member". Those of the machine go on the
// resource, as for profiles; the others on the record. What has no conventional name stays together as "sentry.context.<name>".
var contextKeys = map[string]string{
	"profile.profile_id":           attr.KeyProfileID,
	"profile.profiler_id":          attr.KeyProfilerID,
	"replay.replay_id":             "sentry.replay_id",
	"response.status_code":         "http.response.status_code",
	"feedback.contact_email":       attr.KeyFeedbackEmail,
	"feedback.name":                attr.KeyFeedbackName,
	"feedback.associated_event_id": attr.KeyFeedbackEventID,
	"feedback.url":                 "sentry.feedback.url",
	"feedback.source":              "sentry.feedback.source",
	"feedback.replay_id":           "sentry.replay_id",
}

// MaxRecordAttributes is from where on the headers of a response stay together. An event may have 256 contexts of that name, each with
// hundreds of headers, and pdata compares each new key with all before it. The other attributes of an event are fewer by their
// own limits.
const MaxRecordAttributes = 1024

func putContexts(attrs, resource pcommon.Map, contexts []event.NamedValue, src Source) {
	for _, context := range contexts {
		if len(context.Value) == 0 || context.Value[0] != '{' {
			attr.PutRaw(attrs, "sentry.context."+context.Name, context.Value)
			continue
		}
		putContext(attrs, resource, context, src)
	}
	src.configure(resource)
}

func putContext(attrs, resource pcommon.Map, context event.NamedValue, src Source) {
	rest := pcommon.NewMap()
	all := attr.EachMember(context.Value, func(member string, value []byte) {
		name := context.Name + "." + member
		switch {
		case name == "feedback.message": // the body
		case name == "device.arch":
			putArchitecture(resource, attr.PlainText(value))
		case name == "response.cookies":
			if src.IncludePII {
				attr.PutRaw(rest, member, value)
			}
		case name == "response.headers" && attrs.Len() < MaxRecordAttributes:
			if !attr.EachMember(value, func(header string, value []byte) {
				putHeader(attrs, "http.response.header.", header, attr.PlainText(value), src)
			}) {
				attr.PutRaw(rest, member, value) // its text has the others
			}
		case attr.ResourceContextKeys[name] != "":
			putScalar(resource, attr.ResourceContextKeys[name], value)
		case contextKeys[name] != "":
			if key := contextKeys[name]; src.IncludePII || !attr.IsPersonal(key) {
				putScalar(attrs, key, value)
			}
		case !src.IncludePII && attr.IsPersonal(member):
		default:
			attr.PutRaw(rest, member, value)
		}
	})
	if context.Name == "os" {
		if osName, ok := resource.Get(attr.KeyOSName); ok {
			attr.PutText(resource, attr.KeyOSType, attr.OsTypes[strings.ToLower(osName.AsString())])
		}
	}
	if !all {
		attr.PutRaw(attrs, "sentry.context."+context.Name, context.Value) // its text has the others
		return
	}
	if rest.Len() > 0 {
		rest.MoveTo(attrs.PutEmptyMap("sentry.context." + context.Name))
	}
}

func putArchitecture(resource pcommon.Map, architecture string) {
	attr.PutText(resource, attr.KeyHostArch, attr.HostArch(architecture))
	if attr.HostArch(architecture) != architecture {
		attr.PutText(resource, attr.KeyDeviceArch, architecture)
	}
}

// putScalar sets a text without the line break that node leaves on Debian's version, a number or a boolean. Null and empty
// text are absent.
func putScalar(m pcommon.Map, key string, value []byte) {
	if len(value) > 0 && value[0] == '"' {
		text := strings.TrimSpace(attr.JsonText(value))
		if key == attr.KeyProfileID || key == attr.KeyProfilerID {
			text = attr.SimpleID(text)
		}
		attr.PutText(m, key, text)
		return
	}
	if string(value) != "null" {
		attr.PutRaw(m, key, value)
	}
}
