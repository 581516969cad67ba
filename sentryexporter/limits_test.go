// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

func TestRetryAfter(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	const most = sentry.MaxRetrySeconds * time.Second
	for text, want := range map[string]time.Duration{
		"": 7 * time.Second, "soon": 7 * time.Second, "-1": 7 * time.Second, "1.5": 7 * time.Second,
		"0": 0, "1": time.Second, "90": 90 * time.Second, "2147483647": most, "2678399": most - time.Second,
		now.Add(time.Minute).UTC().Format(http.TimeFormat):          time.Minute,
		now.Add(-time.Minute).UTC().Format(http.TimeFormat):         0,
		now.Add(100 * 24 * time.Hour).UTC().Format(http.TimeFormat): most,
	} {
		assert.Equal(t, want, retryAfter(http.Header{"Retry-After": {text}}, now, 7*time.Second), text)
	}
}

// TestLimitOfAllCategories: of a 429 without limits the Retry-After is for everything.
func TestLimitOfAllCategories(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]time.Duration{"": time.Minute, "5": 5 * time.Second} {
		var l limits
		l.learn(http.StatusTooManyRequests, http.Header{"Retry-After": {text}}, now)
		wait, category := l.of([]sentry.Category{sentry.CategorySpan}, now)
		assert.Equal(t, want, wait)
		assert.Equal(t, everything, category)
	}
}

// TestNamed: the category of limits that name none has a name in logs and metrics.
func TestNamed(t *testing.T) {
	assert.Equal(t, "everything", named(everything))
	assert.Equal(t, "span", named("span"))
}
