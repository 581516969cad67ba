// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// EventThread is a thread of the process at the time of an event.
// https://develop.sentry.dev/sdk/data-model/event-payloads/threads/
type EventThread struct {
	ID         string // a number in all recorded SDKs; text is legal
	Crashed    jsonscan.Optional[bool]
	Stacktrace *Stacktrace
	Rest       []NamedValue
}

// EventThreads is the table of EventThread.
var EventThreads = newTable("threads", func(t *EventThread) *[]NamedValue { return &t.Rest },
	identifier("id", func(t *EventThread) *string { return &t.ID }),
	carried[EventThread](KindText, "name"),
	carried[EventThread](KindText, "state"), // java: RUNNABLE, WAITING, …
	carried[EventThread](KindInt, "priority"),
	flag("crashed", func(t *EventThread) *jsonscan.Optional[bool] { return &t.Crashed }),
	carried[EventThread](KindFlag, "current"),
	carried[EventThread](KindFlag, "main"),
	carried[EventThread](KindFlag, "daemon"),
	carried[EventThread](KindObject, "held_locks"), // Android's ANR events
	stacktrace(func(t *EventThread) **Stacktrace { return &t.Stacktrace }),
	carried[EventThread](KindObject, "raw_stacktrace"),
)
