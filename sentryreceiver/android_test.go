// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// waiting returns a method trace of threads that wait for a minute, in base64.
func waiting(threads int) string {
	trace := arttrace.Trace{Version: 3, Clock: arttrace.ClockDual, Elapsed: time.Minute}
	var events []arttrace.Event
	for i := range threads {
		events = append(events, arttrace.Event{Thread: uint16(i), Method: 4})
	}
	return base64.RawStdEncoding.EncodeToString(arttracetest.File(trace, events))
}

// TestSpareObservations: traces that tell little and last long share the observations that one
// request may have beyond its size.
func TestSpareObservations(t *testing.T) {
	h := start(t, nil)
	var body strings.Builder
	body.WriteString("{}\n")
	chunk := item("profile_chunk", "", `{"platform":"android","timestamp":1777629600.5,"sampled_profile":"`+waiting(80)+`"}`)
	for range 200 {
		body.WriteString(chunk)
	}
	require.Equal(t, http.StatusOK, h.post(body.String()).status)
	size, observations := 0, int64(0)
	for _, message := range h.sink.profiles {
		size += new(pprofile.ProtoMarshaler).ProfilesSize(message)
		observations += spanlink.Observations(message)
	}
	t.Logf("%d bytes become %d profiles with %d observations in %d bytes", body.Len(), len(h.sink.profiles), observations, size)
	assert.Len(t, h.sink.profiles, 200)
	first := h.sink.profiles[0].ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	assert.Equal(t, 19_801_980*time.Nanosecond, time.Duration(first.Period()), "the first trace has twice the nominal period")
	assert.LessOrEqual(t, size, attr.MaxGrowth*body.Len()+8*attr.SpareObservations+200*attr.MaxOverhead)
}

// TestTraceWithoutTime: a trace whose payload does not say when it began ends at the time of
// receipt, which is counted.
func TestTraceWithoutTime(t *testing.T) {
	h := start(t, nil)
	before := time.Now()
	body := "{}\n" + item("profile_chunk", "", `{"platform":"android","sampled_profile":"`+waiting(1)+`"}`)
	require.Equal(t, http.StatusOK, h.post(body).status)
	require.Len(t, h.sink.profiles, 1)
	profile := h.sink.profiles[0].ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	end := profile.Time().AsTime().Add(time.Duration(profile.DurationNano()))
	assert.WithinRange(t, end, before, time.Now())
	assert.Equal(t, map[string]int64{"field=timestamp type=profile_chunk": 1}, h.counts("otelcol_receiver_sentry_fields_discarded"))
}

// TestTraceTooLong: the duration of a trace is that of its profile.
func TestTraceTooLong(t *testing.T) {
	trace := arttrace.Trace{Version: 3, Clock: arttrace.ClockDual, Elapsed: 67 * time.Second}
	encoded := base64.RawStdEncoding.EncodeToString(arttracetest.File(trace, []arttrace.Event{{Thread: 1, Method: 4}}))
	body := []byte("{}\n" + item(string(sentry.ItemProfileChunk), `,"platform":"android"`, `{"version":"2","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd",
		"profiler_id":"90ab12cd34ef56ab78cd90ef12ab34cd","client_sdk":{"name":"n","version":"1"},"platform":"android","timestamp":1777629600.5,"sampled_profile":"`+encoded+`"}`))
	assert.Equal(t, map[string]int64{"duration": 1}, receive(t, body, "lenient", nil).tolerated)
	assert.Contains(t, receive(t, body, "strict", nil).text, "profiling_duration_is_too_long")
}
