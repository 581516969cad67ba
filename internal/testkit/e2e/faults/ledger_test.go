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

// kind is the kind of an item, as far as the collector counts kinds separately.
type kind string

const (
	aProfile kind = "profile"
	aSpan    kind = "span"
	aLog     kind = "log record"
)

// sentItem is an item that was sent, with the ID that it has in the output.
type sentItem struct {
	kind kind
	id   string
}

// category maps kinds to the categories of Sentry's rate limits.
var category = map[kind]string{aProfile: "profile_chunk", aSpan: "transaction", aLog: "log_item"}

// fate is the response to a client for an item.
type fate int

const (
	unanswered   fate = iota // the connection broke: the item may have been accepted
	refused                  // by the status, or by rate limits in the response
	acknowledged             // the collector is responsible for it
)

// ledger records every item that was sent.
type ledger struct {
	mu      sync.Mutex
	entries map[sentItem]entry
	answers int  // number of answered requests
	ofTee   bool // which forwards what the pipelines reject
}

type entry struct {
	fate fate
	at   time.Time // time of the answer
}

// sent records items before their request, because there may be no answer.
func (l *ledger) sent(items []sentItem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, i := range items {
		l.entries[i] = entry{}
	}
}

// unsent removes items whose request could not be sent.
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

// undelivered returns the acknowledged items that have not arrived.
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

// account has the sums of a ledger.
type account struct {
	sent, unanswered, refused, acknowledged int

	// Fates of acknowledged items.
	delivered   int // delivered during the fault
	queued      int // delivered after it
	dropped     int // by the collector's own count; with a tee, also by Sentry's answer or in client reports
	held        int // in memory when the collector was killed
	byQueue     int // dropped by the collector's queue, which logs but does not count them
	damaged     int // in a file that was damaged
	unexplained int

	again int // repeated deliveries
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

// losses are the explained losses: of single items, by the time of their acknowledgement, or a
// number for each kind.
type losses struct {
	wasHeld, wasInFile     func(sentItem, time.Time) bool
	held, dropped, byQueue map[kind]int
	rejected               map[sentItem]bool // by Sentry
}

// settle compares the sent items with the arrivals up to the end of the fault and up to the end of
// the round.
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
