// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
)

// The spans of fullTransaction, which lasts from half a second before goodProfile to half a second
// behind; the child is over by then.
const (
	rootSpan  = "6f1b2c3d4e5f6071"
	childSpan = "aaaaaaaaaaaaaaaa"
)

// linked says which span each observation of the only message is linked to, by thread and
// milliseconds since the profile began; "" for none.
func (s *sink) linked(t *testing.T) map[string]string {
	t.Helper()
	message, profile := s.only(t)
	dictionarytest.MustBeValid(t, message)
	spans := map[string]string{}
	for _, sample := range profile.Samples().All() {
		attributes, err := pprofile.FromAttributeIndices(message.Dictionary().AttributeTable(), sample, message.Dictionary())
		require.NoError(t, err)
		thread, _ := attributes.Get("thread.id")
		link := message.Dictionary().LinkTable().At(int(sample.LinkIndex()))
		for _, instant := range sample.TimestampsUnixNano().All() {
			spans[fmt.Sprint(thread.AsString(), " ", (instant-uint64(profile.Time()))/1e6)] = link.SpanID().String()
		}
	}
	return spans
}

// In either order of the two items, with a traces pipeline and without.
func TestV1IsLinkedToItsTransaction(t *testing.T) {
	transaction := item("transaction", "", fullTransaction)
	for name, body := range map[string]string{
		"profile first": envelope(profileItem, transaction), "transaction first": envelope(transaction, profileItem),
	} {
		for pipelines, start := range map[string]func() *harness{
			"profiles only": func() *harness { return start(t, nil) },
			"with traces":   func() *harness { return startSignals(t, nil).harness },
		} {
			t.Run(name+", "+pipelines, func(t *testing.T) {
				h := start()
				h.post(body)
				assert.Equal(t, map[string]string{"140213 1": rootSpan, "140213 11": rootSpan}, h.sink.linked(t))
				assert.Equal(t, map[string]int64{"": 2}, h.counts("otelcol_receiver_sentry_linked_observations"))
				assert.Empty(t, h.counts("otelcol_receiver_sentry_unlinked_observations"))
				assert.Empty(t, h.counts("otelcol_receiver_sentry_profiles_aligned"))
				if pipelines == "profiles only" {
					assert.Equal(t, map[string]int64{"outcome=accepted type=profile": 1, "outcome=ignored reason=no_pipeline type=transaction": 1}, h.items())
				}
			})
		}
	}
}

// Python and go put all threads of the process into the profile of a transaction. Its spans ran on
// the active one, unless they say otherwise.
func TestV1OtherThreads(t *testing.T) {
	twoThreads := strings.Replace(goodProfile, `"11000000","thread_id":"140213"`, `"11000000","thread_id":"99"`, 1)
	inactive := strings.Replace(twoThreads, `"active_thread_id":"140213",`, "", 1)
	statesThread := strings.Replace(fullTransaction, `"op":"http.server",`, `"op":"http.server","data":{"thread.id":"99"},`, 1)
	for name, c := range map[string]struct {
		profile, transaction string
		want                 map[string]string
	}{
		"the active thread":   {twoThreads, fullTransaction, map[string]string{"140213 1": rootSpan, "99 11": ""}},
		"the stated thread":   {twoThreads, statesThread, map[string]string{"140213 1": "", "99 11": rootSpan}},
		"nobody says":         {inactive, fullTransaction, map[string]string{"140213 1": "", "99 11": ""}},
		"there is only one":   {strings.Replace(goodProfile, `"active_thread_id":"140213",`, "", 1), fullTransaction, map[string]string{"140213 1": rootSpan, "140213 11": rootSpan}},
		"stated, another one": {goodProfile, statesThread, map[string]string{"140213 1": "", "140213 11": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, nil)
			h.post(envelope(item("profile", "", c.profile), item("transaction", "", c.transaction)))
			assert.Equal(t, c.want, h.sink.linked(t))
		})
	}
}

// The times that SDKs get wrong are right for the decision, and handed on as they came.
func TestV1Alignment(t *testing.T) {
	const child = `"start_timestamp":1777629599.6,"timestamp":1777629599.7`
	anchor := func(text string) string { return strings.Replace(goodProfile, "2026-05-01T10:00:00.000000Z", text, 1) }
	for name, c := range map[string]struct{ profile, transaction, first, second, reason string }{
		"ruby: whole seconds":                  {anchor("2026-05-01T10:00:00+00:00"), strings.Replace(fullTransaction, child, `"start_timestamp":1777629599.505,"timestamp":1777629599.6`, 1), rootSpan, childSpan, "cut_anchor"},
		"python 1.15: the end":                 {anchor("2026-05-01T10:00:00.500000Z"), fullTransaction, rootSpan, rootSpan, "late_anchor"},
		"cocoa: the profile starts before":     {strings.Replace(goodProfile, `"relative_start_ns":"0"`, `"relative_start_ns":"5000000"`, 1), fullTransaction, "", rootSpan, "relative_start"},
		"browser: the profile starts later":    {anchor("2026-05-01T09:59:59.659Z"), fullTransaction, childSpan, childSpan, ""},
		"a profile of another time altogether": {anchor("2026-05-01T09:00:00.123Z"), fullTransaction, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, nil)
			h.post(envelope(item("profile", "", c.profile), item("transaction", "", c.transaction)))
			assert.Equal(t, map[string]string{"140213 1": c.first, "140213 11": c.second}, h.sink.linked(t))
			want := map[string]int64{}
			if c.reason != "" {
				want["reason="+c.reason] = 1
			}
			assert.Equal(t, want, h.counts("otelcol_receiver_sentry_profiles_aligned"))
		})
	}
}

func TestV1WithoutItsTransaction(t *testing.T) {
	other := strings.Replace(fullTransaction, "7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6", "00000000000000000000000000000001", 1)
	for name, transaction := range map[string]string{
		"none":             "",
		"of another event": item("transaction", "", other),
		"not usable":       item("transaction", "", goodTransaction),
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, nil)
			h.post(envelope(profileItem, transaction))
			assert.Equal(t, map[string]string{"140213 1": "", "140213 11": ""}, h.sink.linked(t))
			assert.Equal(t, map[string]int64{"reason=no_transaction": 2}, h.counts("otelcol_receiver_sentry_unlinked_observations"))
		})
	}
}

// Php has the id of the event in the header of the envelope only. Ids may have hyphens.
func TestV1TransactionIDInTheHeader(t *testing.T) {
	const id = `"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6",`
	h := start(t, nil)
	h.post(`{"event_id":"7D1F0C9F-2F1C-4F0E-A9B3-F1A2B3C4D5E6"}` + "\n" + profileItem + item("transaction", "", strings.Replace(fullTransaction, id, "", 1)))
	assert.Equal(t, map[string]string{"140213 1": rootSpan, "140213 11": rootSpan}, h.sink.linked(t))
}

// The payload says nothing of spans, and is as true as before.
func TestV1LinkKeepsTheOriginalPayload(t *testing.T) {
	h := start(t, func(c *Config) { c.KeepOriginalPayload = true })
	h.post(envelope(profileItem, item("transaction", "", fullTransaction)))
	assert.Equal(t, map[string]string{"140213 1": rootSpan, "140213 11": rootSpan}, h.sink.linked(t))
	_, profile := h.sink.only(t)
	assert.Equal(t, goodProfile, string(profile.OriginalPayload().AsRaw()))
	assert.Equal(t, "sentry", profile.OriginalPayloadFormat())
}
