// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"encoding/json"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Sessions contains the release health that ingest stores (relay-event-schema/src/protocol/
// session.rs, relay-server/src/metrics_extraction/sessions), by release, environment and the SDK
// that the credentials of the request name.
type Sessions struct {
	Counts  map[[3]string]SessionCounts
	errored map[string]bool // IDs of updated sessions
}

// SessionCounts are numbers of sessions. Ended is not a metric, but ingest also stores the status
// of each update. Errored includes abnormal, unhandled and crashed ones.
type SessionCounts struct{ Started, Ended, Errored, Abnormal, Unhandled, Crashed int }

// Store stores an item of sessions, and returns why ingest rejects it. Items of other types are
// ignored.
func (s *Sessions) Store(item *sentry.Item, client string) (verdict string) {
	switch item.Header.Type {
	case sentry.ItemSession:
		if verdict = sessionVerdict(nil, item); verdict == "" {
			var update ingestSession
			_ = json.Unmarshal(item.Payload, &update)
			s.add(update.Attributes, client, s.ofUpdate(&update))
		}
	case sentry.ItemSessions:
		if verdict = sessionsVerdict(nil, item); verdict == "" {
			var all ingestSessions
			_ = json.Unmarshal(item.Payload, &all)
			for _, a := range all.Aggregates {
				c := SessionCounts{Abnormal: int(a.Abnormal), Unhandled: int(a.Unhandled), Crashed: int(a.Crashed)}
				c.Errored = int(a.Errored) + c.Abnormal + c.Unhandled + c.Crashed
				c.Started = int(a.Exited) + c.Errored
				c.Ended = c.Started
				s.add(all.Attributes, client, c)
			}
		}
	}
	return verdict
}

// ofUpdate returns what an update adds: each update of a session with errors makes it an errored
// one, but only once.
func (s *Sessions) ofUpdate(u *ingestSession) (c SessionCounts) {
	if s.errored == nil {
		s.errored = map[string]bool{}
	}
	if u.Init {
		c.Started = 1
	}
	isError := u.Errors > 0
	switch u.Status {
	case "", "ok":
	case "exited":
		c.Ended = 1
	default:
		c.Ended, isError = 1, true
	}
	switch u.Status {
	case "abnormal":
		c.Abnormal = 1
	case "unhandled":
		c.Unhandled = 1
	case "crashed":
		c.Crashed = 1
	}
	if id := strings.ToLower(strings.ReplaceAll(u.ID, "-", "")); isError && !s.errored[id] {
		s.errored[id] = true
		c.Errored = 1
	}
	return c
}

func (s *Sessions) add(of *ingestSessionAttributes, client string, c SessionCounts) {
	if s.Counts == nil {
		s.Counts = map[[3]string]SessionCounts{}
	}
	key := [3]string{*of.Release, "", client}
	if of.Environment != nil {
		key[1] = *of.Environment
	}
	s.Counts[key] = s.Counts[key].Plus(c)
}

// Plus returns the sums.
func (c SessionCounts) Plus(d SessionCounts) SessionCounts {
	return SessionCounts{c.Started + d.Started, c.Ended + d.Ended, c.Errored + d.Errored, c.Abnormal + d.Abnormal, c.Unhandled + d.Unhandled, c.Crashed + d.Crashed}
}
