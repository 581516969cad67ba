// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/collapsed"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/cpuprofile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/firefox"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprof"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/speedscope"
)

// The formats.
const (
	Sentry     = "sentry"
	OTLPJSON   = "otlp-json"
	OTLPProto  = "otlp-proto"
	Pprof      = "pprof"
	Speedscope = "speedscope"
	Collapsed  = "collapsed"
	Firefox    = "firefox"
	CPUProfile = "cpuprofile"
)

// Content is the translation of a file. Only Sentry and OTLP have other signals than profiles.
type Content struct {
	Profiles []pprofile.Profiles
	Traces   []ptrace.Traces
	Logs     []plog.Logs
	Metrics  []pmetric.Metrics
	Losses   []importer.Loss

	Older int // messages of profiles in older versions of OTLP, which are translated
}

// Readers has a function for each format. After an error, the content has only the losses: a message
// that pdata's decoders return with an error has no data, and its methods panic.
var Readers = map[string]func([]byte, importer.Options) (Content, error){
	Sentry:     readSentry,
	OTLPJSON:   bounded(maxOTLPObjects, countNulls, readOTLPJSON),
	OTLPProto:  readOTLPProto,
	Pprof:      single(pprof.Read),
	Speedscope: bounded(maxSpeedscopeObjects, countNulls, single(speedscope.Read)),
	Collapsed:  single(collapsed.Read),
	Firefox:    bounded(maxFirefoxObjects, ignoreNulls, single(firefox.Read)),
	CPUProfile: bounded(maxCPUProfileObjects, countNulls, single(cpuprofile.Read)),
}

func single(read func([]byte, importer.Options) (pprofile.Profiles, []importer.Loss, error)) func([]byte, importer.Options) (Content, error) {
	return func(data []byte, o importer.Options) (Content, error) {
		message, losses, err := read(data, o)
		if err != nil {
			return Content{Losses: losses}, err
		}
		return Content{Profiles: []pprofile.Profiles{message}, Losses: losses}, nil
	}
}

// Recognize returns the format of a file by its content.
func Recognize(data []byte) string {
	begin := bytes.TrimSpace(data[:min(len(data), 1<<16)])
	has := func(key string) bool { return bytes.Contains(data, []byte(`"`+key+`"`)) }
	switch {
	case !bytes.HasPrefix(begin, []byte("{")) && isText(begin):
		return Collapsed
	case !bytes.HasPrefix(begin, []byte("{")):
		return recognizeBinary(data)
	case speedscope.Is(begin):
		return Speedscope
	case has("resourceProfiles"), has("resourceSpans"), has("resourceLogs"), has("resourceMetrics"):
		return OTLPJSON
	case isEnvelope(data):
		return Sentry
	case has("preprocessedProfileVersion"):
		return Firefox
	case has("callFrame"):
		return CPUProfile
	}
	return Sentry
}

func isEnvelope(data []byte) bool {
	envelope, err := ReadEnvelope(data)
	return err == nil && len(envelope.Items) > 0
}

// isText reports whether a file begins with lines of text. Protocol Buffers contain bytes below the
// space character.
func isText(begin []byte) bool {
	return !bytes.ContainsFunc(begin, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}

// recognizeBinary distinguishes pprof from OTLP. Both are Protocol Buffers; only one of them has
// samples in it.
func recognizeBinary(data []byte) string {
	if _, _, err := pprof.Read(data, importer.Options{}); err == nil {
		return Pprof
	}
	return OTLPProto
}
