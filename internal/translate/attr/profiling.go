// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// OriginalPayloadFormat is the format of original payloads that the receiver keeps.
const OriginalPayloadFormat = "sentry"

// Profiling refers from a span to samples: by profiler session and thread (V2), or by the profile
// of the transaction (V1).
type Profiling struct {
	Profiler string
	Profile  string
	Thread   string
	Name     string // of the thread
}

// ProfilingKeys are the keys of these fields in the data of spans and among the attributes of
// streamed spans.
var ProfilingKeys = map[string]bool{
	semconv.SentryProfilerID: true,
	semconv.ProfilerID:       true,
	semconv.SentryProfileID:  true,
	semconv.ProfileID:        true,
	semconv.ThreadID:         true,
	semconv.ThreadName:       true,
}

// Set sets the field with the given key, if there is one.
func (p *Profiling) Set(key string, value []byte) {
	if !ProfilingKeys[key] {
		return
	}
	text := PlainText(value)
	switch key {
	case semconv.SentryProfilerID, semconv.ProfilerID:
		p.Profiler = FirstText(SimpleID(text), p.Profiler)
	case semconv.SentryProfileID, semconv.ProfileID:
		p.Profile = FirstText(SimpleID(text), p.Profile)
	case semconv.ThreadID:
		p.Thread = FirstText(text, p.Thread)
	case semconv.ThreadName:
		p.Name = FirstText(text, p.Name)
	}
}

// Or fills in missing fields. The ID and the name of a thread belong together, so it never combines
// them from different threads.
func (p Profiling) Or(other Profiling) Profiling {
	if p.Thread == "" && p.Name == "" || p.Thread == other.Thread {
		p.Thread, p.Name = other.Thread, FirstText(p.Name, other.Name)
	}
	p.Profiler = FirstText(p.Profiler, other.Profiler)
	p.Profile = FirstText(p.Profile, other.Profile)
	return p
}

// Put writes the IDs in the same form as in profiles.
func (p Profiling) Put(attrs pcommon.Map) {
	PutText(attrs, semconv.SentryProfilerID, SimpleID(p.Profiler))
	PutText(attrs, semconv.ProfileID, SimpleID(p.Profile))
	PutDecimal(attrs, semconv.ThreadID, p.Thread)
	PutText(attrs, semconv.ThreadName, p.Name)
}
