// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRetryAfter(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	const most = MaxRetrySeconds * time.Second
	for text, want := range map[string]time.Duration{
		"": 7 * time.Second, "soon": 7 * time.Second, "-1": 7 * time.Second, "1.5": 7 * time.Second,
		"0": 0, "1": time.Second, "90": 90 * time.Second, "2147483647": most, "2678399": most - time.Second,
		now.Add(time.Minute).UTC().Format(http.TimeFormat):          time.Minute,
		now.Add(-time.Minute).UTC().Format(http.TimeFormat):         0,
		now.Add(100 * 24 * time.Hour).UTC().Format(http.TimeFormat): most,
	} {
		assert.Equal(t, want, RetryAfter(http.Header{"Retry-After": {text}}, now, 7*time.Second), text)
	}
}

// TestLimitOfAllCategories: of a 429 without limits the Retry-After is for everything.
func TestLimitOfAllCategories(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]time.Duration{"": time.Minute, "5": 5 * time.Second} {
		var l ActiveLimits
		l.Learn(http.StatusTooManyRequests, http.Header{"Retry-After": {text}}, now)
		wait, category := l.Of([]Category{CategorySpan}, now)
		assert.Equal(t, want, wait)
		assert.Equal(t, Everything, category)
	}
}

// TestCategoryLabel: the category of limits that name none has a name in logs and metrics.
func TestCategoryLabel(t *testing.T) {
	assert.Equal(t, "everything", Everything.Label())
	assert.Equal(t, "span", CategorySpan.Label())
}

// TestListOfLimits: who reads what List states has the same limits.
func TestListOfLimits(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	var l, again ActiveLimits
	l.Learn(http.StatusOK, http.Header{HeaderRateLimits: {"60:transaction;error:project:x, 1:span:key", "90:error:key"}}, now)
	text := FormatRateLimits(l.List(now.Add(time.Second))...)
	assert.Equal(t, "89:error:key, 59:transaction:key", text)
	again.Learn(http.StatusOK, http.Header{HeaderRateLimits: {text}}, now.Add(time.Second))
	assert.Equal(t, l.List(now.Add(2*time.Second)), again.List(now.Add(2*time.Second)))
	l.Learn(http.StatusTooManyRequests, http.Header{}, now)
	assert.Equal(t, "60::key, 90:error:key, 1:span:key, 60:transaction:key", FormatRateLimits(l.List(now)...))
}

// TestInventedCategories: a server that invents categories fills no memory, and hides no limit on
// everything.
func TestInventedCategories(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	var l ActiveLimits
	for i := range 10_000 {
		l.Learn(http.StatusOK, http.Header{HeaderRateLimits: {fmt.Sprintf("60:x%d:key", i)}}, now)
	}
	assert.Len(t, l.until, maxLimitedCategories)
	l.Learn(http.StatusOK, http.Header{HeaderRateLimits: {"60::key"}}, now)
	wait, _ := l.Of([]Category{CategoryError}, now)
	assert.Equal(t, time.Minute, wait)
	l.Learn(http.StatusOK, http.Header{HeaderRateLimits: {"60:error:key"}}, now.Add(time.Hour))
	assert.Len(t, l.until, 1, "expired limits make room")
}
