// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// kind of an item, as far as the collector counts it apart.
type kind string

const (
	aProfile kind = "profile"
	aSpan    kind = "span"
	aLog     kind = "log record"
)

// sentItem is what was sent, by the id under which it comes out.
type sentItem struct {
	kind kind
	id   string
}

// category is what Sentry's rate limits call it.
var category = map[kind]string{aProfile: "profile_chunk", aSpan: "transaction", aLog: "log_item"}

// fate is what the client was told of an item.
type fate int

const (
	unanswered   fate = iota // the connection broke: it may have been taken or not
	refused                  // by the status, or by the limits beside it
	acknowledged             // the collector answers for it
)

// ledger has every item that was sent.
type ledger struct {
	mu      sync.Mutex
	entries map[sentItem]entry
	answers int  // to requests
	ofTee   bool // which forwards what the pipelines reject
}

type entry struct {
	fate fate
	at   time.Time // of the answer
}

// sent is noted before the request: without an answer that is all there is.
func (l *ledger) sent(items []sentItem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, i := range items {
		l.entries[i] = entry{}
	}
}

// unsent takes that back: there was nobody to send it to.
func (l *ledger) unsent(items []sentItem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, i := range items {
		delete(l.entries, i)
	}
}

func (l *ledger) answered(items []sentItem, a harness.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers++
	limits := a.Header.Get("X-Sentry-Rate-Limits")
	for _, i := range items {
		e := entry{acknowledged, time.Now()}
		if l.ofTee && a.Status == http.StatusTooManyRequests {
			e.fate = acknowledged
		} else if a.Status != http.StatusOK || !l.ofTee && strings.Contains(limits, category[i.kind]) {
			e.fate = refused
		}
		l.entries[i] = e
	}
}

func (l *ledger) answersSoFar() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers
}

// undelivered are the items that were acknowledged, and until now have not arrived.
func (l *ledger) undelivered(arrived map[sentItem]int) (missing map[sentItem]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing = map[sentItem]time.Time{}
	for i, e := range l.entries {
		if e.fate == acknowledged && arrived[i] == 0 {
			missing[i] = e.at
		}
	}
	return missing
}

// account is a ledger added up.
type account struct {
	sent, unanswered, refused, acknowledged int

	// What became of the acknowledged.
	delivered   int // while the fault lasted
	queued      int // delivered after it
	dropped     int // by the collector's own count; with a tee, also by Sentry's answer or in client reports
	held        int // in memory when the collector was killed
	byQueue     int // by the collector's queue, which tells its log and no counter
	damaged     int // in a file that was damaged
	unexplained int

	again int // deliveries of what had been delivered
}

func (a *account) numbers() []*int {
	return []*int{
		&a.sent, &a.unanswered, &a.refused, &a.acknowledged,
		&a.delivered, &a.queued, &a.dropped, &a.held, &a.byQueue, &a.damaged, &a.unexplained, &a.again,
	}
}

func (a *account) add(b account) {
	for i, n := range b.numbers() {
		*a.numbers()[i] += *n
	}
}

// losses are those for which there is an explanation: of items, by when they were acknowledged, or of numbers of a kind.
type losses struct {
	wasHeld, wasInFile     func(sentItem, time.Time) bool
	held, dropped, byQueue map[kind]int
	rejected               map[sentItem]bool // by Sentry
}

// settle adds up what was sent and what had arrived when the fault was over, and at the end.
func (l *ledger) settle(during, atEnd map[sentItem]int, known losses) (a account, unexplained []sentItem) {
	for i, at := range l.undelivered(atEnd) {
		one := func(of map[kind]int) bool { of[i.kind]--; return of[i.kind] >= 0 }
		switch {
		case known.wasInFile(i, at):
			a.damaged++
		case known.wasHeld(i, at), one(known.held):
			a.held++
		case known.rejected[i], one(known.dropped):
			a.dropped++
		case one(known.byQueue):
			a.byQueue++
		default:
			a.unexplained++
			unexplained = append(unexplained, i)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range l.entries {
		a.sent++
		a.again += max(0, atEnd[i]-1)
		switch {
		case e.fate == unanswered:
			a.unanswered++
		case e.fate == refused:
			a.refused++
		default:
			a.acknowledged++
			if during[i] > 0 {
				a.delivered++
			} else if atEnd[i] > 0 {
				a.queued++
			}
		}
	}
	return a, unexplained
}
