// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// keepProfiles keeps a message of profiles.
func (v *viewer) keepProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	m, short, reader := &message{signal: signalProfiles, arrived: time.Now()}, texts{}, timeline.NewReader(profiles.Dictionary())
	for r := range profiles.ResourceProfiles().Len() {
		resource := profiles.ResourceProfiles().At(r)
		if r == 0 {
			m.project = projectOf(resource.Resource())
		}
		service := serviceName(resource.Resource())
		for s := range resource.ScopeProfiles().Len() {
			list := resource.ScopeProfiles().At(s).Profiles()
			for p := range list.Len() {
				summary := summarise(reader.Read(list.At(p)), short)
				summary.message, summary.service, summary.position = m, service, position{r, s, p}
				m.profiles = append(m.profiles, summary)
			}
		}
	}
	if len(m.profiles) == 0 {
		return nil
	}
	var err error
	if m.otlp, err = (&pprofile.ProtoMarshaler{}).MarshalProfiles(profiles); err != nil {
		return consumererror.NewPermanent(fmt.Errorf("cannot keep profiles: %w", err))
	}
	v.keep(ctx, m)
	return nil
}

// keep adds messages to the store. What does not fit is counted and no error: it must not cost the pipeline its other exporters.
func (v *viewer) keep(ctx context.Context, list ...*message) {
	for range v.store.add(list...) {
		v.telemetry.messageDropped(ctx, list[0].signal, reasonTooLarge)
	}
}

// summarise reads a profile for what lists show. Strings are copied, so that they do not hold the message.
func summarise(read *timeline.Profile, short texts) *profileSummary {
	out := &profileSummary{
		start:   read.Start,
		end:     read.End,
		threads: len(read.Threads),
		measure: timeline.Measure{Type: short.of(read.Measure.Type), Unit: short.of(read.Measure.Unit)},
		spans:   map[timeline.Link]linked{},
	}
	if id := read.OTLP.ProfileID(); !id.IsEmpty() {
		out.profileID = hex.EncodeToString(id[:])
	}
	if name, ok := read.View.Get(read.OTLP.AttributeIndices(), semconv.SentrySegmentName); ok {
		out.name = short.of(name.AsString())
	}
	for _, s := range read.Selected(timeline.Filter{}) {
		out.samples += s.Count
		out.weight += s.Weight
		if link := read.Links[s.Link]; link != (timeline.Link{}) {
			sum := out.spans[link]
			out.spans[link] = linked{sum.samples + s.Count, sum.weight + s.Weight}
		}
		out.end = max(out.end, s.Time)
	}
	return out
}

func serviceName(resource pcommon.Resource) string {
	if name, ok := resource.Attributes().Get(semconv.ServiceName); ok && name.AsString() != "" {
		return shorten(name.AsString())
	}
	return "unknown_service" // as SDKs say it
}
