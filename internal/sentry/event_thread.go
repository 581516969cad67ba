package sentry

// EventThread is a thread of the process at the time of an event.
// https://develop.sentry.dev/sdk/data-model/event-payloads/threads/
type EventThread struct {
	ID         string // a number in all SDKs recorded; text is legal
	Name       string
	State      string // java: RUNNABLE, WAITING, …
	Priority   Optional[int64]
	Crashed    Optional[bool]
	Current    Optional[bool]
	Main       Optional[bool]
	Daemon     Optional[bool]
	HeldLocks  []byte // JSON object, android's ANR events
	Stacktrace *Stacktrace
}

func (l *loose) threads() (all []EventThread) {
	l.values("threads", func() {
		var t EventThread
		if l.object("threads", func(key string) {
			switch key {
			case "id":
				t.ID = l.id("threads.id")
			case "name":
				t.Name = l.text("threads.name")
			case "state":
				t.State = l.text("threads.state")
			case "priority":
				t.Priority = l.int("threads.priority")
			case "crashed":
				t.Crashed = l.flag("threads.crashed")
			case "current":
				t.Current = l.flag("threads.current")
			case "main":
				t.Main = l.flag("threads.main")
			case "daemon":
				t.Daemon = l.flag("threads.daemon")
			case "held_locks":
				t.HeldLocks = l.rawObject("threads.held_locks")
			case "stacktrace":
				t.Stacktrace = l.stacktrace()
			default:
				l.s.skip()
			}
		}) {
			all = append(all, t)
		}
	})
	return all
}
