// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"maps"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ActiveLimits are the rate limits that Sentry has imposed on a sender, by category. The zero value
// contains no limits.
//
// https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
type ActiveLimits struct {
	mu    sync.Mutex
	until map[Category]time.Time
}

// Everything is the category of limits without categories.
const Everything Category = ""

// Label returns the category as a metric attribute.
func (c Category) Label() string {
	if c == Everything {
		return "everything"
	}
	return string(c)
}

// Learn adds the limits from a response, whatever its status is. A 429 without limits stops
// everything for a while. The header is an http.Header; importing net/http for this type would make
// every translation depend on it.
func (l *ActiveLimits) Learn(status int, header map[string][]string, now time.Time) {
	given := ParseRateLimits(strings.Join(textproto.MIMEHeader(header).Values(HeaderRateLimits), ","))
	if len(given) == 0 && status != tooManyRequests {
		return // the usual case
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, limit := range given {
		until := now.Add(time.Duration(limit.Seconds) * time.Second)
		if len(limit.Categories) == 0 {
			l.extend(Everything, until, now)
		}
		for _, category := range limit.Categories {
			l.extend(category, until, now)
		}
	}
	if len(given) == 0 {
		l.extend(Everything, now.Add(RetryAfter(header, now, DefaultRetrySeconds*time.Second)), now)
	}
}

const tooManyRequests = 429

// extend keeps the later of two limits of a category.
func (l *ActiveLimits) extend(category Category, until, now time.Time) {
	if l.until == nil {
		l.until = map[Category]time.Time{}
	}
	if _, known := l.until[category]; !known && len(l.until) >= maxLimitedCategories {
		maps.DeleteFunc(l.until, func(_ Category, until time.Time) bool { return !until.After(now) })
		if category != Everything && len(l.until) >= maxLimitedCategories {
			return
		}
	}
	if until.After(l.until[category]) {
		l.until[category] = until
	}
}

// maxLimitedCategories bounds the memory if a server invents categories. Relay has forty.
const maxLimitedCategories = 100

// Of returns how long an item of these categories must wait, and because of which category. It
// returns zero if the item need not wait.
func (l *ActiveLimits) Of(categories []Category, now time.Time) (wait time.Duration, because Category) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.until) == 0 {
		return 0, Everything
	}
	wait = max(l.until[Everything].Sub(now), 0)
	for _, category := range categories {
		if left := l.until[category].Sub(now); left > wait {
			wait, because = left, category
		}
	}
	return wait, because
}

// List returns the limits that have not ended, one per category and sorted by category, in the form
// that a server sends.
func (l *ActiveLimits) List(now time.Time) (limits []RateLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, category := range slices.Sorted(maps.Keys(l.until)) {
		left := l.until[category].Sub(now)
		if left <= 0 {
			continue
		}
		limit := RateLimit{Seconds: int((left + time.Second - 1) / time.Second), Scope: ScopeKey}
		if category != Everything {
			limit.Categories = []Category{category}
		}
		limits = append(limits, limit)
	}
	return limits
}

// RetryAfter reads the Retry-After header, which contains whole seconds or a date. It returns
// otherwise if the header is missing or invalid.
func RetryAfter(header map[string][]string, now time.Time, otherwise time.Duration) time.Duration {
	text := textproto.MIMEHeader(header).Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds), MaxRetrySeconds) * time.Second
	}
	for _, layout := range dateLayouts {
		if date, err := time.Parse(layout, text); err == nil {
			return min(max(date.Sub(now), 0), MaxRetrySeconds*time.Second)
		}
	}
	return otherwise
}

// dateLayouts are the three forms of dates in HTTP headers (RFC 9110, section 5.6.7).
var dateLayouts = []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC}
