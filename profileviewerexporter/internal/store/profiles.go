// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// Profile summarizes one profile of a message.
type Profile struct {
	ID       uint64 // assigned by the store, ascending
	Message  *Message
	Position Position

	Service   string
	Release   string // or version
	Name      string // of the transaction, if the sender states it
	ProfileID string // hex; empty if the sender states none
	Measure   timeline.Measure
	Start     uint64 // Unix nanoseconds
	End       uint64
	Threads   int
	Samples   int64
	Weight    int64
	Spans     map[timeline.Link]Sum

	entries []traceEntry // in the store
}

// Position is the position of a profile in its message.
type Position struct{ Resource, Scope, Profile int }

// Sum is the sum of the samples of a span.
type Sum struct{ Samples, Weight int64 }

func (s Sum) plus(other Sum) Sum { return Sum{s.Samples + other.Samples, s.Weight + other.Weight} }

// AddProfiles stores a message of profiles. It reports whether the message was small enough.
func (s *Store) AddProfiles(ctx context.Context, profiles pprofile.Profiles, now time.Time) (stored bool, err error) {
	m := &Message{Signal: Profiles, Arrived: now, Tenant: tenant.FromContext(ctx)}
	m.summarizeProfiles(profiles)
	if m.empty() {
		return true, nil
	}
	if m.otlp, err = (&pprofile.ProtoMarshaler{}).MarshalProfiles(profiles); err != nil {
		return false, fmt.Errorf("cannot encode profiles: %w", err)
	}
	return s.add(m), nil
}

func (m *Message) summarizeProfiles(profiles pprofile.Profiles) {
	texts, reader := textCache{}, timeline.NewReader(profiles.Dictionary())
	for r := range profiles.ResourceProfiles().Len() {
		resource := profiles.ResourceProfiles().At(r)
		service, release := serviceName(resource.Resource()), texts.display(releaseOf(resource.Resource()))
		for s := range resource.ScopeProfiles().Len() {
			list := resource.ScopeProfiles().At(s).Profiles()
			for p := range list.Len() {
				summary := summarize(reader.Read(list.At(p)), texts)
				summary.Message, summary.Service, summary.Position = m, service, Position{r, s, p}
				summary.Release = release
				m.Profiles = append(m.Profiles, summary)
			}
		}
	}
}

// summarize returns the summary of a profile. It copies strings, which would otherwise keep the
// message in memory.
func summarize(read *timeline.Profile, texts textCache) *Profile {
	out := &Profile{
		Start:   read.Start,
		End:     read.End,
		Threads: len(read.Threads),
		Measure: timeline.Measure{Type: texts.display(read.Measure.Type), Unit: texts.display(read.Measure.Unit)},
		Spans:   map[timeline.Link]Sum{},
	}
	if id := read.OTLP.ProfileID(); !id.IsEmpty() {
		out.ProfileID = hex.EncodeToString(id[:])
	}
	if name, ok := read.View.Get(read.OTLP.AttributeIndices(), semconv.SentrySegmentName); ok {
		out.Name = texts.display(name.AsString())
	}
	for _, s := range read.Selected(timeline.Filter{}) {
		out.Samples += s.Count
		out.Weight += s.Weight
		if link := read.Links[s.Link]; link != (timeline.Link{}) {
			out.Spans[link] = out.Spans[link].plus(Sum{s.Count, s.Weight})
		}
		out.End = max(out.End, s.Time)
	}
	return out
}

// textCache holds the displayed texts of one message: every profile may refer to the same long text
// of the dictionary.
type textCache map[string]string

func (c textCache) display(text string) string {
	shown, known := c[text]
	if !known {
		shown = displayText(text)
		c[text] = shown
	}
	return shown
}
