// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// limits are the rate limits that Sentry has given, by category.
//
// https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
type limits struct {
	mu    sync.Mutex
	until map[sentry.Category]time.Time
}

// learn takes the limits of an answer, on whatever status they stand. A 429 without any stops everything for a while.
func (l *limits) learn(status int, header http.Header, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	given := sentry.ParseRateLimits(strings.Join(header.Values(sentry.HeaderRateLimits), ","))
	for _, limit := range given {
		until := now.Add(time.Duration(limit.Seconds) * time.Second)
		if len(limit.Categories) == 0 {
			l.extend(everything, until)
		}
		for _, category := range limit.Categories {
			l.extend(category, until)
		}
	}
	if len(given) == 0 && status == http.StatusTooManyRequests {
		l.extend(everything, now.Add(retryAfter(header, now, sentry.DefaultRetrySeconds*time.Second)))
	}
}

// extend lets the later of two limits win, and remembers none but those that an envelope of ours may meet: a server that
// makes up categories must not fill the memory.
func (l *limits) extend(category sentry.Category, until time.Time) {
	if !slices.Contains(sendable, category) {
		return
	}
	if l.until == nil {
		l.until = map[sentry.Category]time.Time{}
	}
	if until.After(l.until[category]) {
		l.until[category] = until
	}
}

// of says how long an item must wait, and for which category. Zero for not at all.
func (l *limits) of(categories []sentry.Category, now time.Time) (wait time.Duration, because sentry.Category) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, category := range append([]sentry.Category{everything}, categories...) {
		if left := l.until[category].Sub(now); left > wait {
			wait, because = left, category
		}
	}
	return wait, because
}

// everything is the category of limits that name none.
const everything sentry.Category = ""

// sendable are the categories that stop something this exporter sends.
var sendable = slices.Concat([]sentry.Category{everything},
	sentry.LimitedBy(&sentry.ItemHeader{Type: sentry.ItemProfileChunk}),
	sentry.LimitedBy(&sentry.ItemHeader{Type: sentry.ItemProfileChunk, Platform: "javascript"}),
	sentry.LimitedBy(&sentry.ItemHeader{Type: sentry.ItemTransaction}),
	sentry.LimitedBy(&sentry.ItemHeader{Type: sentry.ItemSpan}))

// retryAfter reads the header Retry-After: whole seconds, or a date. Anything else, and no header, is otherwise.
func retryAfter(header http.Header, now time.Time, otherwise time.Duration) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds), sentry.MaxRetrySeconds) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), sentry.MaxRetrySeconds*time.Second)
	}
	return otherwise
}
