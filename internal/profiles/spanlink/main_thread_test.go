// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// androidChunk is a chunk of Android: observations of its main thread 24791 and of thread 24800, at
// the instants 1 to 4.
func androidChunk(stated bool) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	profile := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	attributes := []dictionary.AttributeIndex{b.AttrString(semconv.SentryProfilerID, "session")}
	if stated {
		attributes = append(attributes, b.AttrInt(semconv.SentryActiveThreadID, 24791))
	}
	dictionary.SetAttributes(profile.AttributeIndices(), attributes...)
	for _, thread := range []struct {
		id   int64
		name string
	}{{24791, "main"}, {24800, "RenderThread"}} {
		sample := profile.Samples().AppendEmpty()
		dictionary.SetAttributes(sample.AttributeIndices(), b.AttrInt(semconv.ThreadID, thread.id), b.AttrString(semconv.ThreadName, thread.name))
		sample.TimestampsUnixNano().Append(1, 2, 3, 4)
	}
	b.Finish()
	return p
}

// TestMainThreadByName: spans that state another id of the main thread, as some SDKs for Android
// do, are found by its name.
func TestMainThreadByName(t *testing.T) {
	named := func(id, from, to uint64, thread, name string) Span {
		s := on(id, 0, from, to)
		s.Thread, s.OnMain = thread, name == mainThread
		return s
	}
	none := [reasons]int64{NoSpan: 8}
	for name, c := range map[string]struct {
		spans []Span
		want  LinkStats
	}{
		"equal ids":                          {[]Span{named(1, 2, 4, "24791", "main")}, LinkStats{Linked: 2, Unlinked: [reasons]int64{NoSpan: 6}}},
		"the id of a Java thread":            {[]Span{named(1, 2, 4, "2", "main")}, LinkStats{Assumed: 2, Unlinked: [reasons]int64{NoSpan: 6}}},
		"of another thread":                  {[]Span{named(1, 2, 4, "57", "OkHttp Dispatcher")}, LinkStats{Unlinked: none}},
		"of the main thread and another":     {[]Span{named(1, 2, 4, "2", "main"), named(2, 1, 9, "57", "OkHttp Dispatcher")}, LinkStats{Assumed: 2, Unlinked: [reasons]int64{NoSpan: 6}}},
		"equal ids and another main thread":  {[]Span{named(1, 2, 4, "24791", ""), named(2, 1, 9, "2", "main")}, LinkStats{Linked: 2, Unlinked: [reasons]int64{NoSpan: 6}}},
		"main is another thread of the same": {[]Span{named(1, 2, 4, "24800", "main")}, LinkStats{Linked: 2, Unlinked: [reasons]int64{NoSpan: 6}}},
	} {
		x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Hour})
		x.Add(each(c.spans...), start)
		assert.Equal(t, c.want, x.Link(androidChunk(true), Options{Now: start, Ambiguous: Skip}), name)
	}

	x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Hour})
	x.Add(each(named(1, 2, 4, "2", "main")), start)
	assert.Equal(t, LinkStats{Unlinked: none}, x.Link(androidChunk(false), Options{Now: start, Ambiguous: Skip}), "no main thread stated")
}
