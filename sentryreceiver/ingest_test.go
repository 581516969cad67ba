// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

func textOf(t *testing.T, p pprofile.Profiles) string {
	t.Helper()
	dictionarytest.MustBeValid(t, p)
	return dictionarytest.Dump(p)
}

func TestProfilesComeOut(t *testing.T) {
	h := start(t, nil)
	got := h.post(envelope(transactionItem, profileItem))
	assert.Equal(t, 200, got.status)
	all, profile := h.sink.only(t)
	textOf(t, all)
	assert.Equal(t, "0f3cb15cce4a4e5d9d5b0f1c3b7a1e20", fmt.Sprintf("%x", [16]byte(profile.ProfileID())))
	assert.Equal(t, map[string]int64{
		"outcome=accepted type=profile":                       1,
		"outcome=ignored reason=no_pipeline type=transaction": 1,
	}, h.items())

	h = start(t, nil)
	assert.Equal(t, 200, h.post(envelope(chunkItem)).status)
	all, profile = h.sink.only(t)
	textOf(t, all)
	assert.Equal(t, "90ab12cd34ef56ab78cd90ef12ab34cd", fmt.Sprintf("%x", [16]byte(profile.ProfileID())))
	assert.Equal(t, uint64(1777629600_000000000), uint64(profile.Time()))
	assert.Zero(t, profile.OriginalPayload().Len())
	assert.Equal(t, map[string]int64{"outcome=accepted type=profile_chunk": 1}, h.items())
}

func TestAndroidsNameOfChunks(t *testing.T) {
	h := start(t, nil)
	assert.Equal(t, 200, h.post(envelope(item("profile_chunk_ui", "", goodChunk))).status)
	assert.Equal(t, 1, h.sink.count())
}

func TestAnswerNamesTheEvent(t *testing.T) {
	h := start(t, nil)
	for name, test := range map[string]struct {
		body string
		want string // "random": any id
	}{
		"from the header":             {`{"event_id":"9EC79C33-EC99-42AB-8353-589FCB2E04DC"}` + "\n" + chunkItem, "9ec79c33ec9942ab8353589fcb2e04dc"},
		"none needed":                 {envelope(chunkItem), ""},
		"no items":                    {"{}", ""},
		"made up for a profile":       {envelope(profileItem), "random"},
		"made up for a transaction":   {envelope(transactionItem), "random"},
		"made up for an event":        {envelope(item("event", "", "{}")), "random"},
		"not for a session":           {envelope(item("session", "", "{}")), ""},
		"not for a client report":     {envelope(item("client_report", "", "{}")), ""},
		"header that is no event id":  {`{"event_id":"shop"}` + "\n" + chunkItem, ""},
		"made up, header is no event": {`{"event_id":"shop"}` + "\n" + profileItem, "random"},
	} {
		got := h.post(test.body)
		assert.Equal(t, 200, got.status, name)
		switch test.want {
		case "":
			assert.Equal(t, "{}", got.text, name)
		case "random":
			require.NotNil(t, got.ID, name)
			assert.Regexp(t, "^[0-9a-f]{32}$", *got.ID, name)
		default:
			assert.Equal(t, fmt.Sprintf(`{"id":%q}`, test.want), got.text, name)
		}
	}
}

// TestItemsWeDoNotConsume: they are taken, so that SDKs go on sending, and counted under names that
// are bounded.
func TestItemsWeDoNotConsume(t *testing.T) {
	h := start(t, nil)
	got := h.post(envelope(item("event", "", "{}"), item("log", `,"item_count":0`, `{"items":[]}`), item("made-up", "", "x"), "{}\n\n", item("x", "", "")))
	assert.Equal(t, 200, got.status)
	assert.Equal(t, map[string]int64{
		"outcome=ignored reason=no_pipeline type=event":        1,
		"outcome=ignored reason=no_pipeline type=log":          1,
		"outcome=ignored reason=unsupported_type type=unknown": 3,
	}, h.items())
}

// TestItemsWithoutPipeline: an item of any type is counted with its reason, and is once in the log
// and among the viewer's problems, if its signals have no pipeline.
func TestItemsWithoutPipeline(t *testing.T) {
	profiles := start(t, nil)
	logs := startFor(t, componenttest.NewNopHost(), nil, func(f receiver.Factory, set receiver.Settings, cfg *Config) (component.Component, error) {
		return f.CreateLogs(t.Context(), set, cfg, new(consumertest.LogsSink))
	})
	problems := func() int { // of any service
		seen := map[notices.Notice]bool{}
		list, _, _ := notices.Shared.Read()
		for _, n := range list {
			seen[notices.Notice{Component: n.Component, Subject: n.Subject, Reason: n.Reason}] = true
		}
		return len(seen)
	}
	for kind, itemType := range sentryitems.Types {
		h := profiles
		if slices.Contains(itemType.Signals, pipeline.SignalProfiles) {
			h = logs
		}
		before := problems()
		for range 2 {
			assert.Equal(t, http.StatusOK, h.post(envelope(item(string(kind), "", "{}"))).status, kind)
		}
		assert.EqualValues(t, 2, h.items()["outcome=ignored reason=no_pipeline type="+kind.Label()], kind)
		lines := h.logs.FilterMessageSnippet("Items of the type " + kind.Label() + " are dropped: there is no ")
		after, _, _ := notices.Shared.Read()
		assert.Equal(t, problems()-before, lines.Len(), "%s: new problems and lines", kind)
		assert.True(t, slices.ContainsFunc(after, func(n notices.Notice) bool {
			return n.Subject == kind.Label()+" items" && n.Reason == pipeline.ReasonNoPipeline && n.Component == h.receiver.Shared.id.String() && n.Service != ""
		}), kind)
	}
}

// TestBadItems: each of them costs itself only, and what the client sees is that it was received.
func TestBadItems(t *testing.T) {
	tooDeep := `{"version":"2","x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`
	for name, test := range map[string]struct {
		item   string
		reason string
		kind   string
	}{
		"no JSON":             {item("profile_chunk", "", "{"), "profiling_invalid_json", "profile_chunk"},
		"empty":               {item("profile", "", ""), "profiling_invalid_json", "profile"},
		"a list":              {item("profile", "", "[]"), "profiling_invalid_json", "profile"},
		"no samples":          {item("profile_chunk", "", strings.Replace(goodChunk, `"samples":[`, `"samples":[],"x":[`, 1)), "profiling_not_enough_samples", "profile_chunk"},
		"dangling stacks":     {item("profile_chunk", "", strings.ReplaceAll(goodChunk, `"stack_id":0`, `"stack_id":9`)), "profiling_malformed_samples", "profile_chunk"},
		"other version":       {item("profile_chunk", "", `{"version":"3"}`), "profiling_platform_not_supported", "profile_chunk"},
		"nested too deep":     {item("profile_chunk", "", tooDeep), "json_too_deep", "profile_chunk"},
		"android trace":       {item("profile", "", `{"platform":"android","sampled_profile":"x"}`), "profiling_invalid_base64_value", "profile"},
		"android trace chunk": {item("profile_chunk", "", `{"version":"2","platform":"android","sampled_profile":"xxxx"}`), "profiling_invalid_sampled_profile", "profile_chunk"},
		"Perfetto":            {item("profile_chunk", `,"content_type":"application/X-Perfetto-Trace"`, goodChunk+"\x00\n"), "profiling_invalid_sampled_profile", "profile_chunk"},
		"Perfetto by length":  {item("profile_chunk", `,"meta_length":700`, goodChunk+"\x00\n"), "profiling_invalid_sampled_profile", "profile_chunk"},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, nil)
			got := h.post(envelope(test.item))
			assert.Equal(t, 200, got.status, "alone: %s", got.text)
			assert.Zero(t, h.sink.count())
			discarded := "outcome=discarded reason=" + test.reason + " type=" + test.kind
			assert.Equal(t, map[string]int64{discarded: 1}, h.items())

			got = h.post(envelope(chunkItem, test.item, profileItem))
			assert.Equal(t, 200, got.status, got.text)
			assert.Empty(t, got.header.Get("X-Sentry-Rate-Limits"))
			assert.Equal(t, 2, h.sink.count(), "its neighbors")
			assert.Equal(t, int64(2), h.items()[discarded])
			assert.Empty(t, h.rejected())
		})
	}
}

func TestProfileTooLarge(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxProfileSize = int64(len(goodChunk)) })
	assert.Equal(t, 200, h.post(envelope(chunkItem)).status, "exactly the limit")
	large := item("profile_chunk", "", goodChunk+" ")

	got := h.post(envelope(large))
	assert.Equal(t, 413, got.status)
	assert.Contains(t, got.text, fmt.Sprintf("profile_chunk of %d bytes", len(goodChunk)+1))
	assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
	assert.Equal(t, 413, h.post(envelope(large, item("profile", "", "{"))).status, "the other was not taken either")

	assert.Equal(t, 200, h.post(envelope(chunkItem, large)).status, "something was taken")
	assert.Equal(t, 200, h.post(envelope(transactionItem, large)).status, "something was taken")
	assert.Equal(t, int64(4), h.items()["outcome=discarded reason=profiling_exceed_size_limit type=profile_chunk"])
}

func TestValidation(t *testing.T) {
	h := start(t, nil)
	h.post(envelope(item("profile_chunk", `,"platform":"python"`, oddChunk), chunkItem))
	assert.Equal(t, 2, h.sink.count())
	assert.Equal(t, map[string]int64{
		"rule=enough_samples":           1,
		"rule=metadata":                 1,
		"rule=one_profile_per_envelope": 1,
		"rule=platform_header":          1,
		"rule=stack_exists":             1,
	}, h.counts("otelcol_receiver_sentry_profiles_tolerated"))
	lost := map[string]int64{"reason=profiling_malformed_samples": 1}
	assert.Equal(t, lost, h.counts("otelcol_receiver_sentry_samples_discarded"))

	h = start(t, func(c *Config) { c.Validation = profile.Strict })
	got := h.post(envelope(chunkItem, item("profile_chunk", "", oddChunk)))
	assert.Equal(t, 200, got.status)
	assert.Equal(t, map[string]int64{
		"outcome=accepted type=profile_chunk":                                     1,
		"outcome=discarded reason=profiling_too_many_profiles type=profile_chunk": 1,
	}, h.items())
	assert.Empty(t, h.counts("otelcol_receiver_sentry_profiles_tolerated"))
	assert.Equal(t, lost, h.counts("otelcol_receiver_sentry_samples_discarded"))
}

// A V1 profile belongs to a transaction, which is in its envelope or was not sampled.
func TestTransactionOfAProfile(t *testing.T) {
	tolerated := map[string]int64{"rule=transaction": 1}
	for body, want := range map[string]map[string]int64{
		envelope(profileItem):                                      tolerated,
		envelope(transactionItem, profileItem):                     {},
		envelope(profileItem, transactionItem):                     {},
		envelope(item("profile", `,"sampled":false`, goodProfile)): {},
		envelope(item("profile", `,"sampled":true`, goodProfile)):  tolerated,
	} {
		h := start(t, nil)
		h.post(body)
		assert.Equal(t, 1, h.sink.count())
		assert.Equal(t, want, h.counts("otelcol_receiver_sentry_profiles_tolerated"), body[:60])
	}
}

func TestProfileWithoutAnchor(t *testing.T) {
	adrift := item("profile", "", strings.Replace(goodProfile, `"timestamp":"2026-05-01T10:00:00.000000Z",`, "", 1))

	h := start(t, nil)
	h.post(envelope(adrift, transactionItem))
	_, profile := h.sink.only(t)
	assert.Equal(t, uint64(1777629599_500000000), uint64(profile.Time()), "it began with its transaction")

	h = start(t, nil)
	before := time.Now()
	h.post(envelope(adrift))
	_, profile = h.sink.only(t)
	assert.WithinRange(t, profile.Time().AsTime(), before.Add(-time.Second), time.Now(), "it ended when it was received")
}

func TestSDKOfAProfile(t *testing.T) {
	for body, want := range map[string]string{
		`{"sdk":{"name":"sentry.python.flask","version":"2.0.0"}}` + "\n" + profileItem: "sentry.python.flask 2.0.0",
		"{}\n" + profileItem: "sentry.python 2.68.0", // of the credentials
		"{}\n" + chunkItem:   "sentry.test 1.0.0",    // its own
	} {
		h := start(t, nil)
		h.post(body)
		all, _ := h.sink.only(t)
		scope := all.ResourceProfiles().At(0).ScopeProfiles().At(0).Scope()
		assert.Equal(t, want, scope.Name()+" "+scope.Version())
	}
}

func TestOptionsOfProfiles(t *testing.T) {
	h := start(t, func(c *Config) { c.KeepOriginalPayload, c.ProfileType = true, "cpu" })
	h.post(envelope(chunkItem))
	all, profile := h.sink.only(t)
	assert.Equal(t, "sentry", profile.OriginalPayloadFormat())
	assert.Equal(t, goodChunk, string(profile.OriginalPayload().AsRaw()))
	assert.Equal(t, "cpu", all.Dictionary().StringTable().At(int(profile.PeriodType().TypeStrindex())))
}

func TestBackpressure(t *testing.T) {
	const limit = "3:profile;profile_chunk;profile_chunk_ui:key:backpressure"
	busy, never := errors.New("queue is full"), consumererror.NewPermanent(errors.New("not like this"))
	// isV1 is how the pipeline below tells the two profiles apart.
	isV1 := func(p pprofile.Profiles) bool {
		id := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).ProfileID()
		return id[0] == 0x0f
	}
	badItem := item("profile_chunk", "", "{")
	for _, test := range []struct {
		name   string
		items  []string
		v1, v2 error // what the pipeline says to a V1 profile and a V2 chunk
		status int
		limit  string
		counts map[string]int64
	}{
		{"all taken", []string{profileItem, chunkItem}, nil, nil, 200, "",
			map[string]int64{"outcome=accepted type=profile": 1, "outcome=accepted type=profile_chunk": 1}},
		{"chunk refused", []string{chunkItem}, nil, busy, 429, limit,
			map[string]int64{"outcome=refused reason=backpressure type=profile_chunk": 1}},
		{"profile refused", []string{profileItem}, busy, nil, 429, limit,
			map[string]int64{"outcome=refused reason=backpressure type=profile": 1}},
		{"one of two refused", []string{profileItem, chunkItem}, busy, nil, 200, limit,
			map[string]int64{"outcome=refused reason=backpressure type=profile": 1, "outcome=accepted type=profile_chunk": 1}},
		{"both refused", []string{profileItem, chunkItem}, busy, busy, 429, limit,
			map[string]int64{"outcome=refused reason=backpressure type=profile": 1, "outcome=refused reason=backpressure type=profile_chunk": 1}},
		{"refused beside something taken and ignored", []string{transactionItem, profileItem}, busy, nil, 200, limit,
			map[string]int64{"outcome=refused reason=backpressure type=profile": 1, "outcome=ignored reason=no_pipeline type=transaction": 1}},
		{"refused beside something discarded", []string{profileItem, badItem}, busy, nil, 429, limit,
			map[string]int64{"outcome=refused reason=backpressure type=profile": 1, "outcome=discarded reason=profiling_invalid_json type=profile_chunk": 1}},
		{"rejected", []string{chunkItem}, nil, never, 400, "",
			map[string]int64{"outcome=rejected reason=pipeline type=profile_chunk": 1}},
		{"rejected beside something taken", []string{chunkItem, profileItem}, nil, never, 200, "",
			map[string]int64{"outcome=rejected reason=pipeline type=profile_chunk": 1, "outcome=accepted type=profile": 1}},
		{"rejected by one pipeline, refused by another", []string{chunkItem}, nil, errors.Join(never, busy), 429, limit,
			map[string]int64{"outcome=refused reason=backpressure type=profile_chunk": 1}},
		{"rejected by both pipelines", []string{chunkItem}, nil, errors.Join(never, never), 400, "",
			map[string]int64{"outcome=rejected reason=pipeline type=profile_chunk": 1}},
		{"rejected and refused", []string{chunkItem, profileItem}, busy, never, 429, limit,
			map[string]int64{"outcome=rejected reason=pipeline type=profile_chunk": 1, "outcome=refused reason=backpressure type=profile": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := start(t, func(c *Config) { c.BackpressurePause = 3 * time.Second })
			h.sink.respond = func(p pprofile.Profiles) error {
				if isV1(p) {
					return test.v1
				}
				return test.v2
			}
			got := h.post(envelope(test.items...))
			assert.Equal(t, test.status, got.status)
			assert.Equal(t, test.limit, got.header.Get("X-Sentry-Rate-Limits"))
			assert.NotContains(t, got.header, "Retry-After", "SDKs would pause every category")
			assert.Equal(t, test.counts, h.items())
			if test.status != 200 {
				assert.NotEmpty(t, got.Detail)
				assert.Nil(t, got.ID)
			}
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	h := start(t, nil)
	clients, rounds := 8, 4
	if testsize.Full() {
		rounds = 20
	}
	done := make(chan int)
	bodies := [][]byte{[]byte(envelope(chunkItem)), []byte(envelope(transactionItem, profileItem))}
	for client := range clients {
		go func() {
			taken := 0
			for round := range rounds {
				name := []string{"gzip", "zlib", "br", "zstd"}[(client+round)%4]
				req := h.envelopeRequest(encode(t, name, bodies[round%2]))
				req.Header.Set("Content-Encoding", name)
				if h.do(req).status == 200 {
					taken++
				}
			}
			done <- taken
		}()
	}
	for range clients {
		assert.Equal(t, rounds, <-done)
	}
	assert.Equal(t, clients*rounds, h.sink.count())
	texts := map[string]bool{}
	for _, p := range h.sink.profiles {
		texts[textOf(t, p)] = true
	}
	assert.Len(t, texts, 2, "each comes out as it went in")
}
