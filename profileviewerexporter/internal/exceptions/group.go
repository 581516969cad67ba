// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
)

// Group summarizes equal errors.
type Group struct {
	id       string
	kind     string
	message  string // of the latest error
	place    string // the innermost application frame
	services []string
	handled  *bool
	times    []uint64
	last     uint64
}

// Groups collects errors.
type Groups map[string]*Group

// Add adds an error to its group.
func (g Groups) Add(e *Error) {
	key := e.groupKey()
	group := g[key]
	if group == nil {
		group = &Group{id: groupID(key)}
		g[key] = group
	}
	if e.Time >= group.last {
		thrown := &e.chain[0]
		group.last, group.kind, group.handled = e.Time, answer.Display(thrown.kind), thrown.handled
		group.message, group.place = answer.Display(e.message()), answer.Display(e.place())
	}
	group.times = append(group.times, e.Time)
	if !slices.Contains(group.services, e.Service) && len(group.services) < maxServices {
		group.services = append(group.services, e.Service)
	}
}

// maxServices is the maximum number of services of a group in a list.
const maxServices = 20

// GroupID returns the ID of the group of an error.
func (e *Error) GroupID() string { return groupID(e.groupKey()) }

// groupID returns an ID for URLs: keys are long.
func groupID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// groupKey returns equal texts for errors with the same cause: the fingerprint that the application
// set or else the type and the application frames. Line numbers change with each release. Errors
// without a stack are equal if their messages differ only in numbers.
func (e *Error) groupKey() string {
	var parts []string
	if parts = fingerprint(e.attributes); parts != nil {
		return strings.Join(parts, "\x00")
	}
	for i := range e.chain {
		one := &e.chain[i]
		parts = append(parts, one.kind)
		frames := one.applicationFrames()
		for _, f := range frames {
			parts = append(parts, cmp.Or(f.module, f.file), f.function)
		}
		if len(frames) == 0 && i == 0 {
			parts = append(parts, withoutNumbers(e.message()))
		}
	}
	return strings.Join(parts, "\x00")
}

// fingerprint returns the fingerprint of a record, or nil if it is the default.
func fingerprint(attributes pcommon.Map) (parts []string) {
	list := texts(attributes, semconv.SentryFingerprint)
	if len(list) == 0 || slices.ContainsFunc(list, func(part string) bool { return strings.Contains(part, "{{") }) {
		return nil
	}
	return append([]string{"fingerprint"}, list...)
}

// applicationFrames returns the frames of the application, or all frames if there are none.
func (e *thrown) applicationFrames() []*frame {
	stack := e.stack()
	var own []*frame
	for _, f := range stack {
		if f.inApp != nil && *f.inApp {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return stack
	}
	return own
}

// place returns the innermost application frame as text.
func (e *Error) place() string {
	for i := range e.chain {
		if frames := e.chain[i].applicationFrames(); len(frames) > 0 {
			f := frames[0]
			return strings.TrimSpace(f.function + " " + cmp.Or(f.file, f.module))
		}
	}
	return text(e.attributes, semconv.SentrySegmentName)
}

// withoutNumbers replaces each word with a digit, such as an ID or a date.
func withoutNumbers(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}

// activitySteps is the number of bars of the chart of a group.
const activitySteps = 30

// GroupAnswer is a group in a list.
type GroupAnswer struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Message  string   `json:"message"`
	Place    string   `json:"place"` // innermost application frame
	Services []string `json:"services"`
	Handled  *bool    `json:"handled,omitempty"`
	Count    int      `json:"count"`
	First    string   `json:"first"`
	Last     string   `json:"last"`
	Activity []int    `json:"activity"` // number of errors per time step
}

// ListAnswer lists groups of errors.
type ListAnswer struct {
	answer.Omissions
	Groups []GroupAnswer `json:"groups"`
	Count  int           `json:"count"`  // number of matching groups
	Errors int           `json:"errors"` // number of errors in these groups
	Unread int           `json:"unread"` // errors in messages that were not read because a limit was reached
}

// Columns are the columns of the list, the default first.
var Columns = []string{"-last", "first", "count", "type"}

var orders = listing.Columns[*Group]{
	"last":  func(a, b *Group) int { return cmp.Compare(a.last, b.last) },
	"first": func(a, b *Group) int { return cmp.Compare(slices.Min(a.times), slices.Min(b.times)) },
	"count": func(a, b *Group) int { return cmp.Compare(len(a.times), len(b.times)) },
	"type":  func(a, b *Group) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.message, b.message)) },
}

// List returns the page of the groups that a query selects.
func (g Groups) List(q listing.Query, unread int) ListAnswer {
	out := ListAnswer{Groups: []GroupAnswer{}, Unread: unread}
	var list []*Group
	first, last := uint64(0), uint64(0)
	for _, group := range g {
		if q.Wants(group.services, group.kind, group.message, group.place) {
			list = append(list, group)
			out.Errors += len(group.times)
			earliest := slices.Min(group.times)
			if first == 0 || earliest < first {
				first = earliest
			}
			last = max(last, group.last)
		}
	}
	out.Count = len(list)
	slices.SortFunc(list, func(a, b *Group) int { return cmp.Compare(a.id, b.id) })
	page := listing.Page(q, list, orders)
	for _, group := range page {
		texts := answer.PerEntry(answer.MaxTexts, len(page), &out.Omissions)
		out.Groups = append(out.Groups, group.describe(&texts, first, last))
	}
	return out
}

func (g *Group) describe(texts *answer.Budget, first, last uint64) GroupAnswer {
	out := GroupAnswer{
		ID: g.id, Type: texts.Text(g.kind), Message: texts.Text(g.message), Place: texts.Text(g.place), Handled: g.handled, Count: len(g.times),
		First: answer.Nanos(slices.Min(g.times)), Last: answer.Nanos(g.last), Activity: make([]int, activitySteps),
	}
	for _, service := range g.services {
		out.Services = append(out.Services, texts.Text(service))
	}
	for _, at := range g.times {
		step := float64(at-first) / float64(max(1, last-first)) * activitySteps
		out.Activity[min(int(step), activitySteps-1)]++
	}
	return out
}
