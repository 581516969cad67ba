// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// envelopeOf returns an envelope with a header; parts alternate between item headers and payloads.
func envelopeOf(header string, parts ...string) string {
	return header + "\n" + strings.Join(parts, "\n") + "\n"
}

func traceHeader(id string) string { return fmt.Sprintf(`{"trace":{"trace_id":%q}}`, id) }

// limitedTo returns the limits of a header value.
func limitedTo(header string, now time.Time) *sentry.ActiveLimits {
	limits := &sentry.ActiveLimits{}
	limits.Learn(200, map[string][]string{sentry.HeaderRateLimits: {header}}, now)
	return limits
}

// TestFilter compares the forwarded items of an envelope, and the reported losses.
func TestFilter(t *testing.T) {
	const (
		transaction = `{"type":"transaction"}` + "\n" + `{"spans":[{},{}]}`
		profile     = `{"type":"profile"}` + "\n" + `{}`
		errorItem   = `{"type":"event"}` + "\n" + `{}`
		attachment  = `{"type":"attachment","length":5}` + "\n" + `12345`
		session     = `{"type":"session"}` + "\n" + `{}`
		replay      = `{"type":"replay_event"}` + "\n" + `{"replay_id":"1"}`
		recording   = `{"type":"replay_recording","length":3}` + "\n" + "a\nb"
		chunk       = `{"type":"profile_chunk"}` + "\n" + `{"profiler_id":"1","platform":"cocoa"}`
		report      = `{"type":"client_report"}` + "\n" + `{"discarded_events":[]}`
		future      = `{"type":"future","length":2}` + "\n" + `{}`
		logs        = `{"type":"log","item_count":2}` + "\n" + `{"items":[{},{}]}`
	)
	now := time.Now()
	for _, c := range []struct {
		name   string
		limits string
		rates  map[string]float64
		items  []string
		left   []string
		report []string // lines of outcome, reason, category and quantity
	}{
		{"no limit", "", nil, []string{transaction, profile}, []string{transaction, profile}, nil},
		{"another category", "60:error:key", nil, []string{transaction, profile}, []string{transaction, profile}, nil},
		{"the profile follows its transaction", "60:transaction:key", nil, []string{profile, transaction, session}, []string{session},
			[]string{"rate_limited generic profile 1", "rate_limited generic span 3", "rate_limited generic transaction 1"}},
		{"a limit on profiles leaves the transaction", "60:profile:key", nil, []string{transaction, profile}, []string{transaction}, []string{"rate_limited generic profile 1"}},
		{"attachments follow their event", "60:error:key", nil, []string{errorItem, attachment}, nil,
			[]string{"rate_limited generic attachment 5", "rate_limited generic attachment_item 1", "rate_limited generic error 1"}},
		{"attachment bytes", "60:attachment_item:key", nil, []string{errorItem, attachment}, []string{errorItem},
			[]string{"rate_limited generic attachment 5", "rate_limited generic attachment_item 1"}},
		{"replay pairs", "60:replay:key", nil, []string{replay, recording}, nil, []string{"rate_limited generic replay 2"}},
		{"the platform of a chunk is in its payload", "60:profile_chunk_ui:key", nil, []string{chunk}, nil, []string{"rate_limited generic profile_chunk_ui 1"}},
		{"a chunk of another platform", "60:profile_chunk:key", nil, []string{chunk}, []string{chunk}, nil},
		{"logs count bytes", "60:log_byte:key", nil, []string{logs}, nil, []string{"rate_limited generic log_byte 17", "rate_limited generic log_item 2"}},
		{"everything but what has no category", "60::organization", nil, []string{errorItem, session, report, future}, []string{report, future},
			[]string{"rate_limited generic error 1", "rate_limited generic session 1"}},
		{"an ended limit", "0::key", nil, []string{errorItem}, []string{errorItem}, nil},
		{"a rate of zero", "", map[string]float64{"transaction": 0, "profile_chunk": 0}, []string{transaction, profile, attachment, session}, []string{session},
			[]string{"client_discard sample_rate attachment 5", "client_discard sample_rate attachment_item 1", "client_discard sample_rate profile 1", "client_discard sample_rate span 3", "client_discard sample_rate transaction 1"}},
		{"a rate of its own", "", map[string]float64{"profile": 0}, []string{transaction, profile}, []string{transaction}, []string{"client_discard sample_rate profile 1"}},
		{"replay pairs by rate", "", map[string]float64{"replay_event": 0}, []string{replay, recording}, nil, []string{"client_discard sample_rate replay 2"}},
		{"the rate comes before the limit", "60::key", map[string]float64{"event": 0}, []string{errorItem, session}, nil,
			[]string{"client_discard sample_rate error 1", "rate_limited generic session 1"}},
		{"logs by rate", "", map[string]float64{"log": 0}, []string{logs}, nil, []string{"client_discard sample_rate log_byte 17", "client_discard sample_rate log_item 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := envelopeOf(`{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}`, c.items...)
			for _, coding := range []string{httpbody.Identity, httpbody.Gzip} {
				r := &request{Body: []byte(body), Header: map[string][]string{}, Endpoint: endpointEnvelope, Received: now}
				if coding != httpbody.Identity {
					r.Header["Content-Encoding"], r.Body = []string{coding}, compress(r.Body)
				}
				o := newOutgoing(&Config{Upstream: "https://a", Forward: c.rates}, newKeyLimits())
				o.limits.byKey[r.key()] = limitedTo(c.limits, now)
				p, err := o.prepare(t.Context(), r, now)
				require.NoError(t, err)
				var lines []string
				for _, e := range p.omitted.Events() {
					lines = append(lines, fmt.Sprint(e.Outcome, " ", e.Reason, " ", e.Category, " ", e.Quantity))
				}
				assert.Equal(t, c.report, lines)
				switch {
				case c.left == nil:
					assert.Nil(t, p.request)
				case len(c.report) == 0:
					assert.Same(t, r, p.request, "the bytes as they came")
				default:
					decoded, err := httpbody.Decoded(p.request.Body, coding, 1<<20, nil)
					require.NoError(t, err)
					assert.Equal(t, envelopeOf(`{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}`, c.left...), string(decoded.Data))
				}
				p.claim.Release()
				assert.Zero(t, o.room.Used())
			}
		})
	}
}

// TestUnreadableEnvelopes are forwarded unchanged: Sentry reports the error.
func TestUnreadableEnvelopes(t *testing.T) {
	now := time.Now()
	o := newOutgoing(&Config{Upstream: "https://a", Forward: map[string]float64{"event": 0}}, newKeyLimits())
	for coding, body := range map[string]string{"": "{", httpbody.Gzip: "no gzip", httpbody.Zstd: "\x28\xb5\x2f\xfd", "new": errorEnvelope} {
		r := &request{Body: []byte(body), Header: map[string][]string{"Content-Encoding": {coding}}, Endpoint: endpointEnvelope, Received: now}
		p, err := o.prepare(t.Context(), r, now)
		require.NoError(t, err)
		if coding != "new" {
			assert.Same(t, r, p.request, coding)
		}
		assert.Zero(t, o.room.Used())
	}
}

// TestRates: all tees make the same decisions, each trace is complete or absent in all item types,
// and the forwarded fractions match the configuration.
func TestRates(t *testing.T) {
	now := time.Now()
	config := &Config{Upstream: "https://a", Forward: map[string]float64{"transaction": 0.1, "span": 0.1, "log": 0.3, "profile_chunk": 0.5}}
	one, another := newOutgoing(config, newKeyLimits()), newOutgoing(config, newKeyLimits())
	traces := 600
	if testsize.Full() {
		traces = 3000
	}
	counts := map[string]int{}
	for n := range traces {
		id := fmt.Sprintf("%032x", n*7919)
		forwarded := map[string]bool{}
		for name, body := range map[string]string{
			"transaction": envelopeOf(traceHeader(id), `{"type":"transaction"}`, `{}`),
			"service 2":   envelopeOf(`{}`, `{"type":"transaction"}`, `{"contexts":{"trace":{"trace_id":"`+strings.ToUpper(id)+`"}}}`),
			"span":        envelopeOf(traceHeader(id), `{"type":"span","item_count":1}`, `{"items":[{"trace_id":"`+id+`"}]}`),
			"legacy span": envelopeOf(`{}`, `{"type":"span"}`, `{"trace_id":"`+id+`"}`),
			"log":         envelopeOf(`{}`, `{"type":"log","item_count":1}`, `{"items":[{"trace_id":"`+id+`"}]}`),
			"chunk 1":     envelopeOf(`{}`, `{"type":"profile_chunk"}`, `{"profiler_id":"`+id+`","chunk_id":"1"}`),
			"chunk 2":     envelopeOf(`{}`, `{"type":"profile_chunk"}`, `{"chunk_id":"2","profiler_id":"`+id+`"}`),
			"error":       envelopeOf(traceHeader(id), `{"type":"event"}`, `{}`),
		} {
			r := &request{Body: []byte(body), Endpoint: endpointEnvelope, Received: now}
			p, err := one.prepare(t.Context(), r, now)
			require.NoError(t, err)
			q, err := another.prepare(t.Context(), r, now)
			require.NoError(t, err)
			if (p.request == nil) != (q.request == nil) || p.request != nil && !bytes.Equal(p.request.Body, q.request.Body) {
				require.Equal(t, p.request, q.request)
			}
			forwarded[name] = p.request != nil
			if p.request != nil {
				counts[name]++
			}
		}
		for _, same := range [][]string{{"transaction", "service 2", "span", "legacy span"}, {"chunk 1", "chunk 2"}} {
			for _, name := range same {
				require.Equal(t, forwarded[same[0]], forwarded[name], "%s %s", id, name)
			}
		}
		require.True(t, forwarded["error"])
		if forwarded["transaction"] {
			require.True(t, forwarded["log"], "the lower rate is part of the higher one")
		}
	}
	for name, rate := range map[string]float64{"transaction": 0.1, "log": 0.3, "chunk 1": 0.5} {
		deviation := math.Sqrt(float64(traces) * rate * (1 - rate))
		assert.InDelta(t, float64(traces)*rate, counts[name], 4*deviation, name)
	}
}

// TestContainersAreSplit: all or none of the elements of a trace are forwarded, and the numbers in
// header, payload and report agree.
func TestContainersAreSplit(t *testing.T) {
	now := time.Now()
	var elements []string
	for n := range 400 {
		elements = append(elements, fmt.Sprintf(`{"trace_id":"%032x","body":"n"}`, n%40))
	}
	payload := `{"items":[` + strings.Join(elements, ",") + `]}`
	r := &request{Body: []byte(envelopeOf(`{}`, `{"type":"log","item_count":400,"z":1}`, payload)), Endpoint: endpointEnvelope, Received: now}
	o := newOutgoing(&Config{Upstream: "https://a", Forward: map[string]float64{"log": 0.5}}, newKeyLimits())
	p, err := o.prepare(t.Context(), r, now)
	require.NoError(t, err)
	e, err := sentry.ReadEnvelope(p.request.Body)
	require.NoError(t, err)
	left, err := event.DecodeLogs(e.Items[0].Payload, e.Items[0].Header.ItemCount)
	require.NoError(t, err)
	assert.Empty(t, left.Flaws, "item_count")
	byTrace := map[string]int{}
	for _, l := range left.Logs {
		byTrace[l.TraceID]++
	}
	for id, count := range byTrace {
		assert.Equal(t, 10, count, id)
	}
	assert.InDelta(t, 20, len(byTrace), 12)
	assert.EqualValues(t, 400-len(left.Logs), p.omitted[omit.Loss{Outcome: event.OutcomeClientDiscard, Reason: "sample_rate", Category: sentry.CategoryLogItem}])
	assert.EqualValues(t, len(payload)-len(e.Items[0].Payload), p.omitted[omit.Loss{Outcome: event.OutcomeClientDiscard, Reason: "sample_rate", Category: sentry.CategoryLogByte}])
	assert.Contains(t, string(p.request.Body), `"z":1`)
}

// TestLateRequests: Sentry's clock correction yields the error of the client's clock, without the
// time in the queue.
func TestLateRequests(t *testing.T) {
	received := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	o := newOutgoing(&Config{Upstream: "https://a"}, newKeyLimits())
	for _, c := range []struct {
		header string
		delay  time.Duration
		want   string
	}{
		{`{"sent_at":"2026-05-01T09:59:59.123456Z","x":1}`, 3 * time.Hour, `{"sent_at":"2026-05-01T12:59:59.123456Z","x":1}`},
		{`{"sent_at":"2026-04-30T22:00:00+00:00"}`, 3 * time.Hour, `{"sent_at":"2026-05-01T01:00:00Z"}`},
		{`{"sent_at":"2026-05-01T09:59:59.123456Z"}`, time.Minute, ""},
		{`{}`, 3 * time.Hour, ""},
		{`{"sent_at":7}`, 3 * time.Hour, ""},
	} {
		r := &request{Body: []byte(envelopeOf(c.header, `{"type":"future"}`, "x")), Endpoint: endpointEnvelope, Received: received}
		p, err := o.prepare(t.Context(), r, received.Add(c.delay))
		require.NoError(t, err)
		if c.want == "" {
			assert.Same(t, r, p.request)
			continue
		}
		assert.Equal(t, envelopeOf(c.want, `{"type":"future"}`, "x"), string(p.request.Body))
		p.claim.Release()
	}
	assert.Zero(t, o.room.Used())
}

// stand is a stand-in for Sentry that counts items.
type stand struct {
	accepted, reported map[string]int64
}

func (s *stand) accept(t *testing.T, r *request) {
	e, err := sentry.ReadEnvelope(r.Body)
	require.NoError(t, err)
	for i := range e.Items {
		if e.Items[i].Header.Type == sentry.ItemClientReport {
			report, err := event.DecodeClientReport(e.Items[i].Payload)
			require.NoError(t, err)
			for _, lost := range report.Events {
				s.reported[lost.Category] += lost.Quantity
			}
			continue
		}
		for _, q := range sentry.Quantities(&e.Items[i]) {
			s.accepted[string(q.Category)] += q.Count
		}
	}
}

// TestStarvation: Sentry limits all categories for an hour, while the collector restarts. The items
// that Sentry accepted, those that it rejected and those that the tee reported are together all
// items that SDKs sent.
func TestStarvation(t *testing.T) {
	for name, limit := range map[string]string{"everything": "3600::organization", "some": "3600:transaction;profile_chunk;error:organization"} {
		for _, disk := range []*memoryStorage{nil, {}} {
			synctest.Test(t, func(t *testing.T) {
				sentryd := &stand{accepted: map[string]int64{}, reported: map[string]int64{}}
				began := time.Now()
				answer := func(r *request) (int, map[string][]string) {
					left := 3600 - int(time.Since(began).Seconds())
					if left <= 0 {
						sentryd.accept(t, r)
						return 200, nil
					}
					header := map[string][]string{sentry.HeaderRateLimits: {strings.Replace(limit, "3600", fmt.Sprint(left), 1)}}
					e, err := sentry.ReadEnvelope(r.Body)
					require.NoError(t, err)
					limits := limitedTo(header[sentry.HeaderRateLimits][0], time.Now())
					left = 0
					for i := range e.Items {
						if wait, _ := limits.Of(sentry.LimitedBy(&e.Items[i].Header), time.Now()); wait == 0 {
							left++
						}
					}
					if left == 0 { // Sentry itself counts it as rate limited
						sentryd.accept(t, r)
						return 429, header
					}
					sentryd.accept(t, r)
					return 200, header
				}
				open := func() *bench {
					b := newBench(t, disk)
					b.answerWith = answer
					return b.run()
				}
				b := open()
				want := map[string]int64{}
				for n := range 600 {
					body := envelopeOf(traceHeader(fmt.Sprintf("%032x", n)), `{"type":"transaction"}`, `{"spans":[{}]}`, `{"type":"session"}`, `{}`)
					if n%3 == 0 {
						body = envelopeOf(`{}`, `{"type":"profile_chunk","platform":"python"}`, `{}`)
					}
					e, err := sentry.ReadEnvelope([]byte(body))
					require.NoError(t, err)
					for i := range e.Items {
						for _, q := range sentry.Quantities(&e.Items[i]) {
							want[string(q.Category)] += q.Count
						}
					}
					b.sendBody("1", fmt.Sprint(n), body)
					time.Sleep(7 * time.Second)
					if disk != nil && n%200 == 199 { // a restart forgets Sentry's limits, but not the losses to be reported
						b.close()
						b = open()
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				got := map[string]int64{}
				for _, part := range []map[string]int64{sentryd.accepted, sentryd.reported} {
					for category, quantity := range part {
						got[category] += quantity
					}
				}
				assert.Equal(t, want, got, name)
				assert.Positive(t, sentryd.reported["transaction"])
				assert.Empty(t, b.reports.all())
				b.close()
			})
		}
	}
}
