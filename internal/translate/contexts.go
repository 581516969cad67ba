package translate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// contextKeys are the conventional names of members of contexts, by "context.member". Those of the machine go on the
// resource, as for profiles; the others on the record. What has no conventional name stays together as "sentry.context.<name>".
var contextKeys = map[string]string{
	"profile.profile_id":           keyProfileID,
	"profile.profiler_id":          keyProfilerID,
	"replay.replay_id":             "sentry.replay_id",
	"response.status_code":         "http.response.status_code",
	"feedback.contact_email":       keyFeedbackEmail,
	"feedback.name":                keyFeedbackName,
	"feedback.associated_event_id": keyFeedbackEventID,
	"feedback.url":                 "sentry.feedback.url",
	"feedback.source":              "sentry.feedback.source",
	"feedback.replay_id":           "sentry.replay_id",
}

var resourceContextKeys = map[string]string{
	"os.name":             keyOSName,
	"os.version":          keyOSVersion,
	"os.build":            keyOSBuild,
	"device.manufacturer": keyManufacturer,
	"device.model_id":     keyDeviceModel,
	"device.simulator":    keyDeviceSimulator,
	"runtime.name":        keyRuntimeName,
	"runtime.version":     keyRuntimeVersion,
}

// maxRecordAttributes is from where on the headers of a response stay together. An event may have 256 contexts of that name, each with
// hundreds of headers, and pdata compares each new key with all before it. The other attributes of an event are fewer by their
// own limits.
const maxRecordAttributes = 1024

func putContexts(attrs, resource pcommon.Map, contexts []sentry.NamedValue, src Source) {
	for _, context := range contexts {
		if len(context.Value) == 0 || context.Value[0] != '{' {
			putRaw(attrs, "sentry.context."+context.Name, context.Value)
			continue
		}
		putContext(attrs, resource, context, src)
	}
	src.configure(resource)
}

func putContext(attrs, resource pcommon.Map, context sentry.NamedValue, src Source) {
	rest := pcommon.NewMap()
	all := eachMember(context.Value, func(member string, value []byte) {
		name := context.Name + "." + member
		switch {
		case name == "feedback.message": // the body
		case name == "device.arch":
			putArchitecture(resource, plainText(value))
		case name == "response.cookies":
			if src.IncludePII {
				putRaw(rest, member, value)
			}
		case name == "response.headers" && attrs.Len() < maxRecordAttributes:
			if !eachMember(value, func(header string, value []byte) {
				putHeader(attrs, "http.response.header.", header, plainText(value), src)
			}) {
				putRaw(rest, member, value) // its text has the others
			}
		case resourceContextKeys[name] != "":
			putScalar(resource, resourceContextKeys[name], value)
		case contextKeys[name] != "":
			if key := contextKeys[name]; src.IncludePII || !isPersonal(key) {
				putScalar(attrs, key, value)
			}
		case !src.IncludePII && isPersonal(member):
		default:
			putRaw(rest, member, value)
		}
	})
	if context.Name == "os" {
		if osName, ok := resource.Get(keyOSName); ok {
			putText(resource, keyOSType, osTypes[strings.ToLower(osName.AsString())])
		}
	}
	if !all {
		putRaw(attrs, "sentry.context."+context.Name, context.Value) // its text has the others
		return
	}
	if rest.Len() > 0 {
		rest.MoveTo(attrs.PutEmptyMap("sentry.context." + context.Name))
	}
}

func putArchitecture(resource pcommon.Map, architecture string) {
	putText(resource, keyHostArch, hostArch(architecture))
	if hostArch(architecture) != architecture {
		putText(resource, keyDeviceArch, architecture)
	}
}

// putScalar sets a text without the line break that node leaves on Debian's version, a number or a boolean. Null and empty
// text are absent.
func putScalar(m pcommon.Map, key string, value []byte) {
	if len(value) > 0 && value[0] == '"' {
		text := strings.TrimSpace(jsonText(value))
		if key == keyProfileID || key == keyProfilerID {
			text = simpleID(text)
		}
		putText(m, key, text)
		return
	}
	if string(value) != "null" {
		putRaw(m, key, value)
	}
}
