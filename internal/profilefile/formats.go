// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"errors"
	"fmt"
	"slices"

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

// Reader reads a file of one format. After an error, the content has only the losses: a message
// that pdata's decoders return with an error has no data, and its methods panic.
type Reader func([]byte, importer.Options) (Content, error)

// format is a row of the table of formats.
type format struct {
	name   string
	is     func(*evidence) bool
	read   Reader // nil: the format is not supported
	advice string // how to convert a file that is not supported; the name is then a noun
}

// formats are all formats that are recognized. The first row that fits decides.
var formats = slices.Concat(magicFormats, []format{
	{name: OTLPProto, is: isOTLPProto, read: readOTLPProto},
	{name: Pprof, is: isPprof, read: single(pprof.Read)},
	{name: OTLPJSON, is: isOTLPJSON, read: readOTLPJSON},
	{name: Speedscope, is: isSpeedscope, read: bounded(maxSpeedscopeObjects, countNulls, single(speedscope.Read))},
	{name: Firefox, is: isFirefox, read: bounded(maxFirefoxObjects, ignoreNulls, single(firefox.Read))},
	{name: CPUProfile, is: isCPUProfile, read: bounded(maxCPUProfileObjects, countNulls, single(cpuprofile.Read))},
}, jsonFormats, textFormats, []format{
	{name: Sentry, is: isSentry, read: readSentry},
	{name: Collapsed, is: isCollapsed, read: single(collapsed.Read)},
})

// Readers has the reader of each format that is supported.
var Readers = func() map[string]Reader {
	readers := map[string]Reader{}
	for _, f := range formats {
		if f.read != nil {
			readers[f.name] = f.read
		}
	}
	return readers
}()

func single(read func([]byte, importer.Options) (pprofile.Profiles, []importer.Loss, error)) Reader {
	return func(data []byte, o importer.Options) (Content, error) {
		message, losses, err := read(data, o)
		if err != nil {
			return Content{Losses: losses}, err
		}
		return Content{Profiles: []pprofile.Profiles{message}, Losses: losses}, nil
	}
}

// Read reads a file in a format, or in the detected format if the format is "". It returns the
// format. After an error, the content has the losses.
func Read(file File, format string, o importer.Options) (string, Content, error) {
	if format == "" {
		var err error
		if format, err = Recognize(file.Data); err != nil {
			return "", Content{Losses: file.losses()}, err
		}
	}
	content, err := Readers[format](file.Data, o)
	content.Losses = append(content.Losses, file.losses()...)
	if err == nil && content.isEmpty() {
		err = importer.ErrEmpty
	}
	if err != nil {
		err = fmt.Errorf("as %s: %w", format, err)
	}
	return format, content, err
}

// append appends the messages of another content.
func (c *Content) append(other *Content) {
	c.Profiles, c.Traces = append(c.Profiles, other.Profiles...), append(c.Traces, other.Traces...)
	c.Logs, c.Metrics = append(c.Logs, other.Logs...), append(c.Metrics, other.Metrics...)
	c.Older += other.Older
}

// isEmpty reports whether a file has neither a sample nor another signal.
func (c *Content) isEmpty() bool {
	for _, m := range c.Profiles {
		if m.SampleCount() > 0 {
			return false
		}
	}
	return len(c.Traces)+len(c.Logs)+len(c.Metrics) == 0
}

// Recognize returns the format of a file by its content. The error names a format that is not
// supported, or describes the content if its format is unknown.
func Recognize(data []byte) (string, error) {
	e := examine(data)
	for _, f := range formats {
		switch {
		case !f.is(e):
		case f.read == nil:
			return "", fmt.Errorf("it is %s, which is not supported: %s", f.name, f.advice)
		default:
			return f.name, nil
		}
	}
	return "", unknownError{e.describe()}
}

// unknownError is the error of a file without a known format.
type unknownError struct{ description string }

func (e unknownError) Error() string { return "its format is unknown: " + e.description }

// IsUnknown reports whether an error is that of a file without a known format.
func IsUnknown(err error) bool {
	_, unknown := errors.AsType[unknownError](err)
	return unknown
}
