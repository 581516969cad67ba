// SPDX-License-Identifier: Apache-2.0

// Package schedule decides which request to send to Sentry next, and when. It has no clock, no lock
// and no I/O.
//
//	new request ──▶ fresh ────────────┬──▶ Next ──▶ an attempt ──▶ Ended
//	          ╲ while Sentry is down  │                              │ failed
//	           ▶ waiting ──drain rate─┤                              ▼
//	             again ───drain rate──┴───────────────────────── Retry
//
// Requests that Sentry never accepts must not delay others:
//
//   - Retries wait in a separate queue for each length of pause, so that none waits behind a longer
//     pause. Those with the fewest failures are sent first.
//   - An attempt may take as long as the timeout. A quarter of the consumers is reserved for new
//     requests, and a quarter for drained requests (waiting requests and retries). Retries use at
//     most half of the consumers that drained requests may use.
//   - Projects take turns. Each project leaves some consumers free for others: its own server may
//     never respond, and would otherwise occupy them all.
//   - While forwarding is paused, each probe is the newest request of the next project in turn.
//     Only first attempts prolong the pause.
package schedule
