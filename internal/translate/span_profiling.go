package translate

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// profiling is what ties a span to samples: the profiler session and the thread (V2), or the one profile of the transaction
// (V1).
type profiling struct {
	profiler string
	profile  string
	thread   string
	name     string // of the thread
}

// profilingKeys are the names of these in the data of spans and among the attributes of streamed spans.
var profilingKeys = map[string]bool{
	keyProfilerID: true, "profiler_id": true, keyProfileID: true, "profile_id": true, keyThreadID: true, keyThreadName: true,
}

// set takes a value by its key.
func (p *profiling) set(key string, value []byte) {
	if !profilingKeys[key] {
		return
	}
	text := plainText(value)
	switch key {
	case keyProfilerID, "profiler_id":
		p.profiler = firstText(simpleID(text), p.profiler)
	case keyProfileID, "profile_id":
		p.profile = firstText(simpleID(text), p.profile)
	case keyThreadID:
		p.thread = firstText(text, p.thread)
	case keyThreadName:
		p.name = firstText(text, p.name)
	}
}

// spanProfiling is what a span itself states, in its data as python and java do, or beside them as cocoa does.
func spanProfiling(s *sentry.Span) (p profiling) {
	for _, member := range s.Data {
		p.set(member.Name, member.Value)
	}
	p.profiler = firstText(s.ProfilerID, p.profiler)
	p.profile = firstText(s.ProfileID, p.profile)
	return p
}

// transactionProfiling is what a transaction states for all of its spans: in the data of contexts.trace, else in
// contexts.profile. The transaction hardly ever names the V1 profile that travels with it; the envelope does.
func transactionProfiling(t *sentry.Transaction, src Source) (p profiling) {
	if t.Root != nil {
		p = spanProfiling(t.Root)
		p.thread, p.name = clip(p.thread, maxIDBytes), clip(p.name, maxNameBytes)
	}
	return p.or(profiling{profiler: t.ProfilerID, profile: firstText(t.ProfileID, src.ProfileID)})
}

// or fills what is missing. Id and name of the thread belong together: the name of another thread is no name for this one.
func (p profiling) or(other profiling) profiling {
	if p.thread == "" && p.name == "" || p.thread == other.thread {
		p.thread, p.name = other.thread, firstText(p.name, other.name)
	}
	p.profiler = firstText(p.profiler, other.profiler)
	p.profile = firstText(p.profile, other.profile)
	return p
}

// put writes ids as the profiles have them, so that both sides compare equal.
func (p profiling) put(attrs pcommon.Map) {
	putText(attrs, keyProfilerID, simpleID(p.profiler))
	putText(attrs, keySpanProfileID, simpleID(p.profile))
	putDecimal(attrs, keyThreadID, p.thread)
	putText(attrs, keyThreadName, p.name)
}
