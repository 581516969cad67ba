// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

var testNow = time.Date(2031, 2, 3, 4, 5, 6, 700_000_000, time.UTC)

// recording is a case that `make demo` sends.
type recording struct {
	name string
	body []byte
}

var demo = regexp.MustCompile(`^sdk-|^(android-v1-art|android-v2-perfetto-trace|react-native-v2-art)$`)

func loadCases(t *testing.T) (recordings []recording) {
	for _, c := range golden.Cases(t) {
		if demo.MatchString(c.Name) {
			recordings = append(recordings, recording{c.Name, c.Envelope})
		}
	}
	require.NotEmpty(t, recordings)
	return recordings
}

func freshen(recordings []recording, now time.Time) (fresh []recording) {
	var bodies [][]byte
	for _, r := range recordings {
		bodies = append(bodies, r.body)
	}
	for i, body := range Freshen(bodies, now) {
		fresh = append(fresh, recording{recordings[i].name, body})
	}
	return fresh
}

// TestFreshenRecordings: the new requests are like the recorded ones in everything but ids and
// times.
func TestFreshenRecordings(t *testing.T) {
	old := loadCases(t)
	fresh := freshen(old, testNow)
	for i := range old {
		t.Run(old[i].name, func(t *testing.T) {
			require.Len(t, fresh[i].body, len(old[i].body))
			for id := range idsIn(old[i].body) {
				assert.NotContains(t, string(fresh[i].body), id, "an old id")
				if len(id) == 32 {
					assert.NotContains(t, string(fresh[i].body), hyphenated(id), "an old id")
				}
			}
			newest := newestSecond(fresh[i].body)
			assert.LessOrEqual(t, newest, testNow.Unix(), "nothing is in the future")
			assert.Greater(t, newest, testNow.Add(-5*time.Minute).Unix(), "and it is recent")

			before, err := sentry.ReadEnvelope(old[i].body)
			require.NoError(t, err)
			after, err := sentry.ReadEnvelope(fresh[i].body)
			require.NoError(t, err)
			require.Len(t, after.Items, len(before.Items))
			for n := range before.Items {
				compareItems(t, before.Items[n], after.Items[n])
			}
		})
	}
}

// compareItems: the same header, the same verdict of every rule, the same samples at times that are
// apart by whole seconds, one and the same number of them.
func compareItems(t *testing.T, before, after sentry.Item) {
	assert.Equal(t, before.Header, after.Header)
	if before.Header.Type != sentry.ItemProfile && before.Header.Type != sentry.ItemProfileChunk {
		assert.Equal(t, json.Valid(before.Payload), json.Valid(after.Payload))
		return
	}
	if before.Header.MetaLength.Set || bytes.Contains(before.Payload, []byte(`"sampled_profile"`)) {
		assert.NotEqual(t, before.Payload, after.Payload) // TestFreshenTraces
		return
	}
	rulesBefore, anchorBefore := verdict(t, before)
	rulesAfter, anchorAfter := verdict(t, after)
	assert.Equal(t, rulesBefore, rulesAfter, "rules that are broken")

	samplesBefore, err := sentrytest.ReadItem(string(before.Header.Type), before.Payload)
	require.NoError(t, err)
	samplesAfter, err := sentrytest.ReadItem(string(after.Header.Type), after.Payload)
	require.NoError(t, err)
	assert.Equal(t, samplesBefore.Lost, samplesAfter.Lost)
	require.Len(t, samplesAfter.Samples, len(samplesBefore.Samples))
	shifted := anchorAfter + samplesAfter.Samples[0].Time - anchorBefore - samplesBefore.Samples[0].Time
	assert.Zero(t, shifted%1_000_000_000)
	assert.NotZero(t, shifted)
	for i := range samplesBefore.Samples {
		was, is := samplesBefore.Samples[i], samplesAfter.Samples[i]
		was.Time += anchorBefore + shifted
		is.Time += anchorAfter
		require.Equal(t, was, is, "sample %d", i)
	}
}

// verdict gives the rules that a profile breaks, and its anchor where it is V1.
func verdict(t *testing.T, item sentry.Item) (rules []string, anchor uint64) {
	d := profile.AcquireDecoder()
	defer d.Release()
	subject := profile.Subject{HeaderPlatform: item.Header.Platform, Number: 1, Size: len(item.Payload), WithTransaction: true}
	var err error
	if item.Header.Type == sentry.ItemProfile {
		subject.Profile, err = d.Profile(item.Payload)
	} else {
		subject.Chunk, err = d.Chunk(item.Payload)
	}
	require.NoError(t, err)
	if subject.Profile != nil {
		anchor = subject.Profile.Timestamp.UnixNano
	}
	for _, rule := range profile.BrokenRules(subject) {
		rules = append(rules, rule.Name)
	}
	return rules, anchor
}

// TestLinksStay: what had an id in common has one in common afterwards, and the same distance in
// time.
func TestLinksStay(t *testing.T) {
	const (
		trace    = "11111111111111111111111111111111"
		profiler = "22222222222222222222222222222222"
		span     = "3333333333333333"
		thread   = "140201234567890"
		debugID  = "44444444444444444444444444444444"
	)
	transaction := `{"event_id":"55555555-5555-5555-5555-555555555555","sent_at":"2026-11-21T01:58:55.641886Z"}` + "\n" +
		`{"type":"transaction"}` + "\n" +
		`{"contexts":{"trace":{"trace_id":"` + trace + `","span_id":"` + span + `","data":{"thread.id":"` + thread + `"}},` +
		`"profile":{"profiler_id":"` + profiler + `"}},"timestamp":1795223440.12345678,` +
		`"request":{"headers":{"sentry-trace":"` + trace + "-" + span + `-1"}},"start_timestamp":1795223439}`
	chunk := `{}` + "\n" + `{"type":"profile_chunk"}` + "\n" +
		`{"chunk_id":"66666666666666666666666666666666","profiler_id":"` + profiler + `","debug_meta":{"images":[{"debug_id":"` + debugID + `"}]},` +
		`"profile":{"samples":[{"timestamp":1795223439.5000001,"thread_id":"` + thread + `"}]}}`
	stranger := `{}` + "\n" + `{"type":"event"}` + "\n" +
		`{"event_id":"77777777777777777777777777777777","timestamp":"2020-01-01T00:00:00Z","sentry.profiler_id":{"type":"string","value":"88888888888888888888888888888888"}}`

	old := recordingsOf(transaction, stranger, chunk)
	fresh := freshen(old, testNow)
	a, b, c := string(fresh[0].body), string(fresh[1].body), string(fresh[2].body)

	newProfiler := member(t, c, "profiler_id")
	assert.NotEqual(t, profiler, newProfiler)
	assert.Equal(t, newProfiler, member(t, a, "profiler_id"))
	assert.Contains(t, a, `"sentry-trace":"`+member(t, a, "trace_id")+"-"+member(t, a, "span_id")+`-1"`)
	assert.Regexp(t, `"event_id":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`, a)
	assert.NotContains(t, b, "8888888888888888")
	for _, kept := range []string{`"debug_id":"` + debugID + `"`, `"thread_id":"` + thread + `"`} {
		assert.Contains(t, c, kept)
	}
	assert.Contains(t, a, `"thread.id":"`+thread+`"`)

	// The newest of the first two is 01:58:55 in the header; now is 04:05:06. Digits after the
	// point stay.
	now := testNow.Unix() - 1
	sent := time.Date(2026, 11, 21, 1, 58, 55, 0, time.UTC).Unix()
	assert.Contains(t, a, `"sent_at":"2031-02-03T04:05:05.641886Z"`)
	assert.Contains(t, a, fmt.Sprintf(`"timestamp":%d.12345678,`, now-sent+1795223440))
	assert.Contains(t, a, fmt.Sprintf(`"start_timestamp":%d}`, now-sent+1795223439))
	assert.Contains(t, c, fmt.Sprintf(`"timestamp":%d.5000001,`, now-sent+1795223439))
	// The third has nothing to do with them and a time of its own.
	assert.Contains(t, b, `"timestamp":"2031-02-03T04:05:05Z"`)

	again := freshen(old, testNow)
	assert.NotEqual(t, newProfiler, member(t, string(again[2].body), "profiler_id"), "every round has new ids")
}

func TestShift(t *testing.T) {
	const newest, seconds = 1795223440, 86_400
	for old, want := range map[string]string{
		`{"timestamp":1795223440}`:              `{"timestamp":1795309840}`,
		`{"timestamp":1795223440.0000001}`:      `{"timestamp":1795309840.0000001}`,
		`{"timestamp": 1795223440515.0154 }`:    `{"timestamp": 1795309840515.0154 }`,
		`{"timestamp":"2026-11-21T01:10:40Z"}`:  `{"timestamp":"2026-11-22T01:10:40Z"}`,
		`{"a":"2026-12-31T23:59:60.123+00:00"}`: `{"a":"2026-12-31T23:59:60.123+00:00"}`, // no time that Go knows
		`{"a":"2026-12-31T23:59:59.5-03:30"}`:   `{"a":"2027-01-01T23:59:59.5-03:30"}`,
		`{"elapsed_since_start_ns":1795223440}`: `{"elapsed_since_start_ns":1795223440}`,
		`{"value":1295223440}`:                  `{"value":1295223440}`, // bytes of memory
		`{"value":179522344012}`:                `{"value":179522344012}`,
		`{"message":"at 2026-11-21T01:10:40Z"}`: `{"message":"at 2026-11-21T01:10:40Z"}`,
		`{"thread_id":"1795223440"}`:            `{"thread_id":"1795223440"}`,
		`{"timestamp":1.795223440e9}`:           `{"timestamp":1.795223440e9}`, // no SDK writes times so
	} {
		assert.Equal(t, want, string(shift([]byte(old), newest, seconds)))
	}
}

// TestFreshenSessions: the only time of a session may be its start.
func TestFreshenSessions(t *testing.T) {
	fresh := Freshen([][]byte{[]byte("{}\n" + `{"type":"sessions"}` + "\n" + `{"aggregates":[{"started":"2026-11-21T01:24:00.5Z","exited":8}]}`)}, testNow)
	assert.Contains(t, string(fresh[0]), `"started":"`+testNow.Add(-time.Second).UTC().Format("2006-01-02T15:04:05")+`.5Z"`)
}

// TestFreshenOTLP: IDs of profiler sessions are in the dictionary, with their name in another
// table.
func TestFreshenOTLP(t *testing.T) {
	const id, debugID = "22222222222222222222222222222222", "44444444444444444444444444444444"
	profiles := `{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"samples":[{"timestampsUnixNano":["1777629600000000001","1777629630000000002"]}],` +
		`"timeUnixNano":"1777629600000000001","durationNano":"1777629600"}]}]}],"dictionary":{"stringTable":["","debug_id","sentry.profiler_id"],` +
		`"attributeTable":[{"value":{}},{"keyStrindex":1,"value":{"stringValue":"` + debugID + `"}},{"keyStrindex":2,"value":{"stringValue":"` + id + `"}}]}}`
	traces := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","startTimeUnixNano":"1777629610000000003",` +
		`"attributes":[{"key":"sentry.profiler_id","value":{"stringValue":"` + id + `"}}]}]}]}]}`
	fresh := Freshen([][]byte{[]byte(profiles), []byte(traces)}, testNow)
	a, b := string(fresh[0]), string(fresh[1])
	assert.Contains(t, a, debugID)
	assert.NotContains(t, a+b, id)
	_, newID, _ := strings.Cut(b, `"sentry.profiler_id","value":{"stringValue":"`)
	assert.Contains(t, a, newID[:32])
	assert.NotContains(t, b, "5b8efff798038103d269b633813fc60c")

	now := testNow.Unix() - 1 // the newest is the second sample
	assert.Contains(t, a, fmt.Sprintf(`["%d000000001","%d000000002"]`, now-30, now))
	assert.Contains(t, a, fmt.Sprintf(`"timeUnixNano":"%d000000001","durationNano":"1777629600"`, now-30))
	assert.Contains(t, b, fmt.Sprintf(`"startTimeUnixNano":"%d000000003"`, now-20))
}

func TestReaddress(t *testing.T) {
	to, err := sentry.ParseDSN("http://abc@localhost:4319/sentry/7")
	require.NoError(t, err)
	body := "{\"dsn\":\"http:\\/\\/old@h\\/4507\",\"trace\":{\"public_key\":\"old\"}}\n{\"type\":\"event\"}\n{\"public_key\":\"old\"}"
	assert.Equal(t, "{\"dsn\":\"http://abc@localhost:4319/sentry/7\",\"trace\":{\"public_key\":\"abc\"}}\n{\"type\":\"event\"}\n{\"public_key\":\"old\"}",
		string(readdress([]byte(body), to)))
}

func recordingsOf(bodies ...string) (recordings []recording) {
	for i, body := range bodies {
		recordings = append(recordings, recording{fmt.Sprint(i), []byte(body)})
	}
	return recordings
}

// member gives the text of the first member of that name.
func member(t *testing.T, body, name string) string {
	_, rest, found := strings.Cut(body, `"`+name+`":"`)
	require.True(t, found, name)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

func TestFreshenLeavesTheOriginal(t *testing.T) {
	old := loadCases(t)
	before := make([][]byte, len(old))
	for i, r := range old {
		before[i] = bytes.Clone(r.body)
	}
	for _, r := range freshen(old, testNow) {
		readdress(r.body, sentry.DSN{Scheme: "http", PublicKey: "key", Host: "localhost:4319", ProjectID: "1"})
	}
	for i, r := range old {
		require.True(t, bytes.Equal(before[i], r.body), r.name)
	}
}

// TestFreshenTraces: the samples of a Perfetto trace move with its request.
func TestFreshenTraces(t *testing.T) {
	old := loadCases(t)
	fresh := freshen(old, testNow)
	traces := 0
	for i := range old {
		envelope, err := sentry.ReadEnvelope(fresh[i].body)
		require.NoError(t, err)
		for _, item := range envelope.Items {
			if !item.Header.MetaLength.Set {
				continue
			}
			traces++
			trace, err := perfetto.Parse(item.Payload[item.Header.MetaLength.Value:])
			require.NoError(t, err)
			at := time.Unix(0, int64(trace.Samples[0].Time))
			assert.WithinRange(t, at, testNow.Add(-5*time.Minute), testNow)
			assert.Equal(t, 846_000_000, at.Nanosecond(), "distances remain")
		}
	}
	assert.Equal(t, 1, traces)
}
