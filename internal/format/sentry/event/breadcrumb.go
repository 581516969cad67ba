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
	Data      []byte // JSON object
	Rest      []NamedValue
}

// Breadcrumbs is the table of Breadcrumb.
var Breadcrumbs = newTable("breadcrumbs", func(b *Breadcrumb) *[]NamedValue { return &b.Rest },
	instant("timestamp", func(b *Breadcrumb) *jsonscan.Timestamp { return &b.Timestamp }),
	text("type", func(b *Breadcrumb) *string { return &b.Type }),
	text("category", func(b *Breadcrumb) *string { return &b.Category }),
	textAs(level, "level", func(b *Breadcrumb) *string { return &b.Level }),
	text("message", func(b *Breadcrumb) *string { return &b.Message }),
	carried[Breadcrumb](KindText, "event_id"), // JavaScript before version 8: an earlier event
	carried[Breadcrumb](KindText, "origin"),
	anyJSON(KindObject, "data", func(b *Breadcrumb) *[]byte { return &b.Data }),
)
