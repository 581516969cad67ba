// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
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
		field := context.Name + "/" + member
		ofResource, ofRecord := attr.MachineFields.KeyOf(field), attr.ContextFields.KeyOf(field)
		switch {
		case ofResource == semconv.SentryDeviceArchitecture:
			putArchitecture(resource, attr.PlainText(value))
		case ofResource != "":
			putScalar(resource, ofResource, value)
		case !src.IncludePII && attr.IsPersonal(attr.FirstText(ofRecord, member)):
		case ofRecord != "":
			putScalar(attrs, ofRecord, value)
		case field == "feedback/message": // the body
		case field == "response/headers" && putResponseHeaders(attrs, value, src):
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

// putResponseHeaders sets each header, unless there are too many.
func putResponseHeaders(attrs pcommon.Map, value []byte, src Source) bool {
	headers, ok := event.DecodeHeaders(value)
	if !ok || len(headers) > attr.MaxMembers || attrs.Len() >= MaxRecordAttributes {
		return false
	}
	for _, header := range headers {
		putHeader(attrs, semconv.HTTPResponseHeaderPrefix, header.Key, header.Value, src)
	}
	return true
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
		if key == semconv.ProfileID || key == semconv.SentryProfilerID {
			text = attr.SimpleID(text)
		}
		attr.PutText(m, key, text)
		return
	}
	if string(value) != "null" {
		attr.PutRaw(m, key, value)
	}
}
