// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"net/http"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// keyLimits has Sentry's current rate limits by key. Limits of a project or an organization are in
// the responses for each of its keys.
type keyLimits struct {
	mu    sync.Mutex
	byKey map[key]*sentry.ActiveLimits
}

// key is a public key of a project.
type key struct{ project, public string }

// maxKeys is the maximum number of keys with limits, and of keys with losses to report, at a few
// hundred bytes each. A receiver without projects accepts any key.
const maxKeys = 10_000

func newKeyLimits() *keyLimits { return &keyLimits{byKey: map[key]*sentry.ActiveLimits{}} }

// learn adds the limits of a response.
func (l *keyLimits) learn(k key, status int, header http.Header, now time.Time) {
	if status != http.StatusTooManyRequests && len(header[sentry.HeaderRateLimits]) == 0 {
		return // the usual case
	}
	l.mu.Lock()
	limits := l.byKey[k]
	if limits == nil {
		for other := range l.byKey {
			if len(l.byKey) < maxKeys {
				break
			}
			delete(l.byKey, other)
		}
		limits = &sentry.ActiveLimits{}
		l.byKey[k] = limits
	}
	l.mu.Unlock()
	limits.Learn(status, header, now)
}

// of returns the limits of a key, or nil.
func (l *keyLimits) of(k key) *sentry.ActiveLimits {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byKey[k]
}

// text returns the current limits of a key as a header value, or "" if there are none.
func (l *keyLimits) text(k key, now time.Time) string {
	limits := l.of(k)
	if limits == nil {
		return ""
	}
	return sentry.FormatRateLimits(limits.List(now)...)
}

// active returns the number of keys with a current limit, by category.
func (l *keyLimits) active(now time.Time) map[sentry.Category]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := map[sentry.Category]int64{}
	for _, limits := range l.byKey {
		for _, limit := range limits.List(now) {
			category := sentry.Everything
			if len(limit.Categories) > 0 {
				category = limit.Categories[0]
			}
			counts[category]++
		}
	}
	return counts
}
