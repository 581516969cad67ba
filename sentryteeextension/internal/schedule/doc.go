// SPDX-License-Identifier: Apache-2.0

// Package schedule decides which request to send to Sentry next, and when. It has no clock, no lock and no I/O.
//
//	new request ──▶ fresh ────────────┬──▶ Next ──▶ an attempt ──▶ Ended
//	          ╲ while Sentry is down  │                              │ failed
//	           ▶ waiting ──drain rate─┤                              ▼
//	             again ───drain rate──┴───────────────────────── Retry
//
// Requests that Sentry never accepts must not delay others:
//
//   - Retries wait in one queue for each length of their pause, so that none waits behind a longer pause. Those with the fewest failures
//     are sent first.
//   - An attempt may take as long as the timeout. New requests have a quarter of the consumers to themselves, and so have drained
//     requests. Retries use at most half of what drained requests may use.
//   - Projects take turns. A project leaves free consumers to others, so that a server of its own that never responds does not occupy
//     them all.
//   - While forwarding is paused, each probe is the newest request of another project. Only first attempts prolong the pause.
package schedule
