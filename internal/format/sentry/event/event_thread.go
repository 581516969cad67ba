// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// EventThread is a thread of the process at the time of an event.
// https://develop.sentry.dev/sdk/data-model/event-payloads/threads/
type EventThread struct {
	ID         string // a number in all recorded SDKs; text is legal
	Name       string
	State      string // java: RUNNABLE, WAITING, …
	Priority   jsonscan.Optional[int64]
	Crashed    jsonscan.Optional[bool]
	Current    jsonscan.Optional[bool]
	Main       jsonscan.Optional[bool]
	Daemon     jsonscan.Optional[bool]
	HeldLocks  []byte // JSON object, Android's ANR events
	Stacktrace *Stacktrace
}

func (l *reader) threads() (all []EventThread) {
	l.Values("threads", func() {
		var t EventThread
		if l.Object("threads", func(key string) {
			switch key {
			case "id":
				t.ID = l.ID("threads.id")
			case "name":
				t.Name = l.Text("threads.name")
			case "state":
				t.State = l.Text("threads.state")
			case "priority":
				t.Priority = l.Int("threads.priority")
			case "crashed":
				t.Crashed = l.Flag("threads.crashed")
			case "current":
				t.Current = l.Flag("threads.current")
			case "main":
				t.Main = l.Flag("threads.main")
			case "daemon":
				t.Daemon = l.Flag("threads.daemon")
			case "held_locks":
				t.HeldLocks = l.RawObject("threads.held_locks")
			case "stacktrace":
				t.Stacktrace = l.stacktrace()
			default:
				l.S.Skip()
			}
		}) {
			all = append(all, t)
		}
	})
	return all
}
