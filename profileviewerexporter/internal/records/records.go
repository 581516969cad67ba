// SPDX-License-Identifier: Apache-2.0

// Package records lists log records.
package records

import (
	"cmp"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

const (
	// maxRead is the maximum total size of the messages that are searched for a response, about a
	// second's work. The first message may exceed it.
	maxRead = 32 << 20
	// maxFound is the maximum number of records that are sorted. An entry takes 24 bytes.
	maxFound = 500_000
	// activitySteps is the number of bars of the chart of a list.
	activitySteps = 120
)

// Answer is a log record in a response.
type Answer struct {
	Time       string             `json:"time"`
	Service    string             `json:"service"`
	Severity   string             `json:"severity"`
	Body       string             `json:"body"`
	Error      bool               `json:"error,omitempty"` // true if the record has an exception
	Trace      string             `json:"trace,omitempty"`
	Span       string             `json:"span,omitempty"`
	Attributes []answer.Attribute `json:"attributes"`
}

// ListAnswer is a page of log records.
type ListAnswer struct {
	answer.Omissions
	Records  []Answer `json:"records"`
	Count    int      `json:"count"`    // number of matching records
	Unread   int      `json:"unread"`   // records in messages that were not read because a limit was reached
	Activity []int    `json:"activity"` // number of records per time step
	First    string   `json:"first"`
	Last     string   `json:"last"`
}

// Query selects log records: in addition to a [listing.Query],
//
//	level=…             of at least this severity: trace, debug, info, warn, error or fatal
//	after=…&until=…     in a range of Unix nanoseconds
type Query struct {
	listing.Query
	Spans        func(service string, span operations.Key) bool // of these spans; nil: all records
	level        plog.SeverityNumber
	after, until uint64
}

var levels = map[string]plog.SeverityNumber{
	"": 0, "trace": plog.SeverityNumberTrace, "debug": plog.SeverityNumberDebug, "info": plog.SeverityNumberInfo, "warn": plog.SeverityNumberWarn,
	"error": plog.SeverityNumberError, "fatal": plog.SeverityNumberFatal,
}

// Parse reads the query of a request.
func Parse(query url.Values) (q Query, err error) {
	if q.Query, err = listing.Parse(query, "-time", "severity"); err != nil {
		return q, err
	}
	known := false
	if q.level, known = levels[query.Get("level")]; !known {
		return q, errors.New("level: is not one of trace, debug, info, warn, error, fatal")
	}
	q.until = 1<<64 - 1
	for key, target := range map[string]*uint64{"after": &q.after, "until": &q.until} {
		if query.Has(key) {
			if *target, err = strconv.ParseUint(query.Get(key), 10, 64); err != nil {
				return q, errors.New(key + ": is not a time in Unix nanoseconds")
			}
		}
	}
	return q, nil
}

// found is a record that the query selects, without its texts.
type found struct {
	time            uint64
	message, record int32
	severity        plog.SeverityNumber
}

// List returns the page that a query selects. It reads the messages, which must be sorted, the
// newest first, twice: to find the records, and to describe those of the page.
func List(messages []*store.Message, q Query) (out ListAnswer, err error) {
	out.Records = []Answer{}
	var list []found
	bytes := 0
	for i, m := range messages {
		records := wanted(m, q.Service)
		if records == 0 {
			continue
		}
		if bytes += m.EncodedSize(); bytes > max(maxRead, m.EncodedSize()) || len(list)+records > maxFound {
			out.Unread += records
			continue
		}
		n := int32(0)
		err = m.EachRecord(func(record plog.LogRecord, service string) {
			if q.selects(record, service) {
				list = append(list, found{uint64(store.RecordTime(record)), int32(i), n, severity(record)})
			}
			n++
		})
		if err != nil {
			return out, err
		}
	}
	out.Count = len(list)
	out.describeTimes(list)
	page := listing.Page(q.Query, list, listing.Columns[found]{
		"time":     func(a, b found) int { return cmp.Compare(a.time, b.time) },
		"severity": func(a, b found) int { return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(a.time, b.time)) },
	})
	return out, out.describe(messages, page)
}

// wanted returns the number of log records of a message, or of a service in it.
func wanted(m *store.Message, service string) (records int) {
	if m.Signal != store.Logs {
		return 0
	}
	for _, f := range m.Fragments {
		if service == "" || service == f.Service {
			records += f.Records
		}
	}
	return records
}

func (q *Query) selects(record plog.LogRecord, service string) bool {
	at := uint64(store.RecordTime(record))
	if q.Service != "" && q.Service != service || at < q.after || at > q.until || severity(record) < q.level {
		return false
	}
	if q.Spans != nil && !q.Spans(service, operations.Key{Trace: record.TraceID(), Span: record.SpanID()}) {
		return false
	}
	if !q.Searches() || q.Finds(record.Body().AsString()) || q.Finds(service) || q.Finds(record.SeverityText()) {
		return true
	}
	for key, value := range record.Attributes().All() {
		if q.Finds(key) || q.Finds(value.AsString()) {
			return true
		}
	}
	return false
}

// severity returns the severity of a record; some SDKs send only its text.
func severity(record plog.LogRecord) plog.SeverityNumber {
	if number := record.SeverityNumber(); number != plog.SeverityNumberUnspecified {
		return number
	}
	text := strings.ToLower(record.SeverityText())
	for _, prefix := range []string{"trace", "debug", "info", "warn", "error", "fatal"} {
		if strings.HasPrefix(text, prefix) {
			return levels[prefix]
		}
	}
	return plog.SeverityNumberUnspecified
}

func (a *ListAnswer) describeTimes(list []found) {
	a.Activity = make([]int, activitySteps)
	if len(list) == 0 {
		a.First, a.Last = "0", "0"
		return
	}
	first, last := list[0].time, list[0].time
	for _, f := range list {
		first, last = min(first, f.time), max(last, f.time)
	}
	for _, f := range list {
		step := float64(f.time-first) / float64(max(1, last-first)) * activitySteps
		a.Activity[min(int(step), activitySteps-1)]++
	}
	a.First, a.Last = answer.Nanos(first), answer.Nanos(last)
}

func (a *ListAnswer) describe(messages []*store.Message, page []found) error {
	a.Records = make([]Answer, len(page))
	rows := map[int32]map[int32]int{} // message → record → row
	for row, f := range page {
		if rows[f.message] == nil {
			rows[f.message] = map[int32]int{}
		}
		rows[f.message][f.record] = row
	}
	for message, records := range rows {
		n := int32(0)
		err := messages[message].EachRecord(func(record plog.LogRecord, service string) {
			if row, ok := records[n]; ok {
				texts := answer.PerEntry(answer.MaxTexts, len(page), &a.Omissions)
				a.Records[row] = Describe(record, service, &texts)
			}
			n++
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Describe returns a log record for a response.
func Describe(record plog.LogRecord, service string, texts *answer.Budget) Answer {
	out := Answer{
		Time: answer.Nanos(uint64(store.RecordTime(record))), Service: texts.Text(service), Body: texts.Text(record.Body().AsString()),
		Severity: texts.Text(cmp.Or(record.SeverityText(), record.SeverityNumber().String())), Error: store.IsException(record.Attributes()),
	}
	out.Attributes = texts.Map(record.Attributes())
	if trace, span := record.TraceID(), record.SpanID(); !trace.IsEmpty() {
		out.Trace, out.Span = hex.EncodeToString(trace[:]), hex.EncodeToString(span[:])
	}
	return out
}

// SortByTime sorts records, the earliest first.
func SortByTime(list []Answer) {
	slices.SortStableFunc(list, func(a, b Answer) int { return cmp.Compare(a.Time, b.Time) })
}
