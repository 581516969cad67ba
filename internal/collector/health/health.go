// SPDX-License-Identifier: Apache-2.0

// Package health decides what a failed attempt to deliver a message means: the destination is down,
// or it never accepts this message ("poison"). It has no clock, no lock and no I/O.
//
//	attempt ──▶ failed ──┬── others accepted since the last attempt ──▶ a refusal; too many: poison
//	                     └── nothing accepted ──▶ an outage: the message is kept
//
// All components that deliver messages use these rules:
//
//   - A status that can change, or no response, is a failed attempt; see VerdictOf.
//   - An outage is never the fault of a message, however long it lasts.
//   - Breaker pauses all attempts while a destination fails.
package health

import (
	"net/http"
	"sync/atomic"
)

// Verdict is the meaning of a response for a message.
type Verdict int

const (
	Accepted Verdict = iota
	Refused          // permanently
	Limited          // until a rate limit ends
	Failed           // for now
)

// VerdictOf returns the verdict of an HTTP status. Proxies send 408. A final status of 1xx is an
// error of the server.
func VerdictOf(status int) Verdict {
	switch {
	case status >= 200 && status < 300:
		return Accepted
	case status == http.StatusTooManyRequests:
		return Limited
	case status >= 500 || status < 200 || status == http.StatusRequestTimeout:
		return Failed
	}
	return Refused
}

// Message is the state of the attempts to deliver a message.
type Message struct {
	Failures int // failed attempts
	Refusals int // failed attempts while the destination accepted others

	accepted uint64 // by the destination until the last attempt
}

// Destination is the state of a destination, as far as attempts show it. Its methods are safe for
// concurrent use with different messages.
type Destination struct{ accepted atomic.Uint64 }

// Accepted records that the destination accepted a message.
func (d *Destination) Accepted() { d.accepted.Add(1) }

// Begin records that an attempt begins.
func (d *Destination) Begin(m *Message) {
	if m.Failures == 0 {
		m.accepted = d.accepted.Load()
	}
}

// Failed records a failed attempt. works means that its response shows that the destination accepts
// others.
func (d *Destination) Failed(m *Message, works bool) {
	m.Failures++
	if works || d.AcceptedSince(m) {
		m.Refusals++
	}
	m.accepted = d.accepted.Load()
}

// AcceptedSince reports whether the destination accepted others since the last attempt.
func (d *Destination) AcceptedSince(m *Message) bool { return d.accepted.Load() > m.accepted }
