// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// contextKeys maps members of contexts to conventional names. As in profiles, members that describe
// the machine are on the resource; the others are on the record. Members without a conventional
// name stay together as "sentry.context.<name>".
var contextKeys = map[attr.ContextMember]string{
	{Context: "profile", Name: "profile_id"}:           semconv.SentryProfileID,
	{Context: "profile", Name: "profiler_id"}:          semconv.SentryProfilerID,
	{Context: "replay", Name: "replay_id"}:             semconv.SentryReplayID,
	{Context: "response", Name: "status_code"}:         semconv.HTTPResponseStatusCode,
	{Context: "feedback", Name: "contact_email"}:       semconv.SentryFeedbackContactEmail,
	{Context: "feedback", Name: "name"}:                semconv.SentryFeedbackName,
	{Context: "feedback", Name: "associated_event_id"}: semconv.SentryFeedbackAssociatedEventID,
	{Context: "feedback", Name: "url"}:                 semconv.SentryFeedbackURL,
	{Context: "feedback", Name: "source"}:              semconv.SentryFeedbackSource,
	{Context: "feedback", Name: "replay_id"}:           semconv.SentryReplayID,
}

// Members that do not become an attribute of the record, or become several.
var (
	feedbackMessage = attr.ContextMember{Context: "feedback", Name: "message"}
	responseCookies = attr.ContextMember{Context: "response", Name: "cookies"}
	responseHeaders = attr.ContextMember{Context: "response", Name: "headers"}
)

// MaxRecordAttributes limits the attributes of a record. At the limit, the headers of a response
// stay together. An event may have 256 contexts with that name, each with hundreds of headers, and
// pdata compares each new key with all earlier ones. Other attributes have their own limits.
const MaxRecordAttributes = 1024

func putContexts(attrs, resource pcommon.Map, contexts []event.NamedValue, src Source) {
	for _, context := range contexts {
		if len(context.Value) == 0 || context.Value[0] != '{' {
			attr.PutRaw(attrs, semconv.SentryContextPrefix+context.Name, context.Value)
			continue
		}
		putContext(attrs, resource, context, src)
	}
	src.configure(resource)
}

func putContext(attrs, resource pcommon.Map, context event.NamedValue, src Source) {
	rest := pcommon.NewMap()
	all := attr.EachMember(context.Value, func(member string, value []byte) {
		name := attr.ContextMember{Context: context.Name, Name: member}
		switch {
		case name == feedbackMessage: // the body
		case name == attr.DeviceArch:
			putArchitecture(resource, attr.PlainText(value))
		case name == responseCookies:
			if src.IncludePII {
				attr.PutRaw(rest, member, value)
			}
		case name == responseHeaders && attrs.Len() < MaxRecordAttributes:
			if !attr.EachMember(value, func(header string, value []byte) {
				putHeader(attrs, semconv.HTTPResponseHeaderPrefix, header, attr.PlainText(value), src)
			}) {
				attr.PutRaw(rest, member, value) // its text contains the other members
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
		if osName, ok := resource.Get(semconv.OSName); ok {
			attr.PutText(resource, semconv.OSType, attr.OsTypes[strings.ToLower(osName.AsString())])
		}
	}
	if !all {
		attr.PutRaw(attrs, semconv.SentryContextPrefix+context.Name, context.Value) // its text contains the other members
		return
	}
	if rest.Len() > 0 {
		rest.MoveTo(attrs.PutEmptyMap(semconv.SentryContextPrefix + context.Name))
	}
}

func putArchitecture(resource pcommon.Map, architecture string) {
	attr.PutText(resource, semconv.HostArch, attr.HostArch(architecture))
	if attr.HostArch(architecture) != architecture {
		attr.PutText(resource, semconv.SentryDeviceArchitecture, architecture)
	}
}

// putScalar sets a text, a number or a boolean. It trims text, because Node sends Debian's version
// with a line break. Null and empty text count as absent.
func putScalar(m pcommon.Map, key string, value []byte) {
	if len(value) > 0 && value[0] == '"' {
		text := strings.TrimSpace(attr.JsonText(value))
		if key == semconv.SentryProfileID || key == semconv.SentryProfilerID {
			text = attr.SimpleID(text)
		}
		attr.PutText(m, key, text)
		return
	}
	if string(value) != "null" {
		attr.PutRaw(m, key, value)
	}
}
