// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
)

// addRelease adds a profile of a release with 20 samples of a function, perhaps in a span. It
// starts after a number of seconds.
func (h *harness) addRelease(service, release, function string, span byte, second time.Duration) {
	h.t.Helper()
	s := timelinetest.Sample{Thread: 1, Stack: "main;" + function, Span: span}
	for i := range 20 {
		s.At = append(s.At, second*time.Second+time.Duration(i)*10*ms)
	}
	message := timelinetest.Message(service, timelinetest.Wall, s)
	message.ResourceProfiles().At(0).Resource().Attributes().PutStr("service.version", release)
	p := timelinetest.Profile(message)
	p.SetTime(pcommon.Timestamp(timelinetest.Start + second*time.Second))
	p.SetDurationNano(uint64(200 * ms))
	h.consume(message)
}

func TestCompare(t *testing.T) {
	h := start(t, nil)
	h.addRelease("shop", "1", "a", 0, 0)
	h.addRelease("shop", "2", "b", 0, 0)
	there := get[compareAnswer](h, "compare?a=1&b=2")
	assert.Equal(t, []string{"0 all 400 0", "1 main 400 0", "2 a 200 200", "2 b 200 200"}, draw(there.graphAnswer))
	assert.Equal(t, []int64{-int64(200 * ms), int64(200 * ms)}, []int64{there.Boxes[2][8], there.Boxes[3][8]})
	assert.Equal(t, []int64{20, 20}, []int64{there.BeforeSamples, there.AfterSamples})
	first := there.Changes[0]
	assert.Equal(t, []any{"a", int64(20), int64(0), false}, []any{first.Name, first.BeforeSelfSamples, first.AfterSelfSamples, first.SelfChance})
	main := there.Changes[2]
	assert.Equal(t, []any{"main", int64(20), int64(20), true}, []any{main.Name, main.BeforeTotalSamples, main.AfterTotalSamples, main.TotalChance})
	back := get[compareAnswer](h, "compare?a=2&b=1")
	assert.Equal(t, []int64{int64(200 * ms), -int64(200 * ms)}, []int64{back.Boxes[2][8], back.Boxes[3][8]})
	for query, want := range map[string]int{
		"a=1&b=1": http.StatusBadRequest, "a=1": http.StatusBadRequest, "service=shop": http.StatusBadRequest, "a_service=shop": http.StatusBadRequest,
		"service=shop&a_release=3": http.StatusNotFound, "service=shop&a_release=1&b_since=2": http.StatusNotFound,
	} {
		status, text := h.fails("compare?" + query)
		assert.Equal(t, want, status, "%s: %s", query, text)
	}
}

// TestCompareSides: releases, operations, services and windows can be compared. A side without a
// release does not have the release of the other one.
func TestCompareSides(t *testing.T) {
	h := start(t, nil)
	h.addRelease("shop", "1", "old", 7, 0)
	h.addRelease("shop", "2", "new", 8, 10)
	h.addRelease("shop", "3", "newest", 0, 20)
	h.addRelease("cart", "1", "other", 0, 0)
	h.addSpans("shop", 7, testSpan{7, 0, "GET /a", 0, 200})
	h.addSpans("shop", 8, testSpan{8, 0, "GET /b", 0, 200})
	window := func(from, to int64) string {
		return fmt.Sprintf("%d/%d", timelinetest.Start+from*1e9, timelinetest.Start+to*1e9)
	}
	for query, want := range map[string][2]string{
		"service=shop&a_release=1&b_release=2":                   {"old", "new"},
		"service=shop&a_release=1":                               {"old", "new newest"},
		"service=shop&b_release=2":                               {"old newest", "new"},
		"service=shop&a_release=2&b_since=2":                     {"new", "newest"},
		"service=shop&a_release=1&b_since=1":                     {"old", "new newest"},
		"a_service=shop&a_release=1&b_service=cart":              {"old", "other"},
		"service=shop&a_operation=GET+/a&b_operation=GET+/b":     {"old", "new"},
		"service=shop&a=" + window(0, 5) + "&b=" + window(5, 15): {"old", "new"},
		"service=shop&a=" + window(0, 5):                         {"old", "old new newest"},
	} {
		both := get[compareAnswer](h, "compare?"+query)
		var sides [2][]string
		for _, c := range both.Changes {
			if c.BeforeSelfSamples > 0 {
				sides[0] = append(sides[0], c.Name)
			}
			if c.AfterSelfSamples > 0 {
				sides[1] = append(sides[1], c.Name)
			}
		}
		for i, names := range want {
			assert.ElementsMatch(t, strings.Fields(names), sides[i], query)
		}
	}
	values, err := url.ParseQuery("service=shop&a_release=1&b_service=cart")
	require.NoError(t, err)
	_, b, err := sidesOf(values)
	require.NoError(t, err)
	assert.False(t, b.Has("without"), "releases of other services are others")
}

// TestCompareActive: threads that wait outside of spans are in none of the sides, if the query says
// so.
func TestCompareActive(t *testing.T) {
	h := start(t, nil)
	for _, work := range []string{"a", "b"} {
		h.addProfile("shop",
			timelinetest.Sample{Thread: 1, Stack: "main;" + work, At: []time.Duration{0, 10 * ms}},
			timelinetest.Sample{Thread: 2, Stack: "main;java.lang.Object.wait", At: []time.Duration{0, 10 * ms}},
		)
	}
	assert.Equal(t, int64(4), get[compareAnswer](h, "compare?a=1&b=2").BeforeSamples)
	active := get[compareAnswer](h, "compare?a=1&b=2&active=1")
	assert.Equal(t, []int64{2, 2}, []int64{active.BeforeSamples, active.AfterSamples})
}
