// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// Breadcrumb is an occurrence before an event. Lists start with the oldest.
// https://develop.sentry.dev/sdk/data-model/event-payloads/breadcrumbs/
type Breadcrumb struct {
	Timestamp jsonscan.Timestamp
	Type      string // default, debug, error, navigation, http, info, query, transaction, ui, user
	Category  string // ui.click, console, httplib, …
	Level     string
	Message   string
	EventID   string // JavaScript before version 8: ID of an earlier event
	Data      []byte // JSON object
}

func (l *reader) breadcrumbs() (all []Breadcrumb) {
	l.Values("breadcrumbs", func() {
		var b Breadcrumb
		if l.Object("breadcrumbs", func(key string) {
			switch key {
			case "timestamp":
				b.Timestamp = l.Time("breadcrumbs.timestamp")
			case "type":
				b.Type = l.Text("breadcrumbs.type")
			case "category":
				b.Category = l.Text("breadcrumbs.category")
			case "level":
				b.Level = l.Text("breadcrumbs.level")
			case "message":
				b.Message = l.Text("breadcrumbs.message")
			case "event_id":
				b.EventID = l.UUID("breadcrumbs.event_id")
			case "data":
				b.Data = l.RawObject("breadcrumbs.data")
			default:
				l.S.Skip()
			}
		}) {
			all = append(all, b)
		}
	})
	return all
}
