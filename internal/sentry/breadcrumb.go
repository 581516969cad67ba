package sentry

// Breadcrumb is something that happened before an event, oldest first in its list.
// https://develop.sentry.dev/sdk/data-model/event-payloads/breadcrumbs/
type Breadcrumb struct {
	Timestamp Timestamp
	Type      string // default, debug, error, navigation, http, info, query, transaction, ui, user
	Category  string // ui.click, console, httplib, …
	Level     string
	Message   string
	EventID   string // JavaScript before version 8: of an event sent before this one
	Data      []byte // JSON object
}

func (l *loose) breadcrumbs() (all []Breadcrumb) {
	l.values("breadcrumbs", func() {
		var b Breadcrumb
		if l.object("breadcrumbs", func(key string) {
			switch key {
			case "timestamp":
				b.Timestamp = l.time("breadcrumbs.timestamp")
			case "type":
				b.Type = l.text("breadcrumbs.type")
			case "category":
				b.Category = l.text("breadcrumbs.category")
			case "level":
				b.Level = l.text("breadcrumbs.level")
			case "message":
				b.Message = l.text("breadcrumbs.message")
			case "event_id":
				b.EventID = l.uuid("breadcrumbs.event_id")
			case "data":
				b.Data = l.rawObject("breadcrumbs.data")
			default:
				l.s.skip()
			}
		}) {
			all = append(all, b)
		}
	})
	return all
}
