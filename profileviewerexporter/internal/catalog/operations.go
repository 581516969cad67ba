// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"encoding/hex"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// OperationsAnswer is a page of the list of operations of a service.
type OperationsAnswer struct {
	answer.Omissions
	Operations []OperationAnswer `json:"operations"`
	Count      int               `json:"count"`            // number of matching operations
	Start      string            `json:"start"`            // start of the earliest span of the service
	End        string            `json:"end"`              // end of the last one
	Unread     bool              `json:"unread,omitempty"` // true if the samples of the oldest profiles are not counted because a limit was reached
}

// OperationAnswer is an operation: the spans of a service with a display name and kind. Times are
// in nanoseconds.
type OperationAnswer struct {
	Name     string       `json:"name"`
	Kind     string       `json:"kind"`  // kind of span, as in OTLP: Server, Client, …
	Count    int          `json:"count"` // number of spans
	Rate     float64      `json:"rate"`  // spans per second
	P50      uint64       `json:"p50"`   // median duration; it and the percentiles are exact to 0.5%
	P95      uint64       `json:"p95"`
	P99      uint64       `json:"p99"`
	Errors   int          `json:"errors"`   // number of spans with the status error
	Total    uint64       `json:"total"`    // duration of all spans
	Database uint64       `json:"database"` // part of total in calls to databases
	Remote   uint64       `json:"remote"`   // part of total in calls to services, by HTTP or RPC
	Own      uint64       `json:"own"`      // rest of total
	Samples  int64        `json:"samples"`  // number of samples of its spans and of the spans below
	Slowest  []SlowAnswer `json:"slowest"`  // its slowest spans
}

// SlowAnswer is one of the slowest spans of an operation.
type SlowAnswer struct {
	Trace    string `json:"trace"`
	Span     string `json:"span"`
	Duration uint64 `json:"duration"`
}

// OperationColumns are the columns by which the list of operations can be sorted.
var OperationColumns = []string{"-total", "name", "kind", "count", "rate", "p50", "p95", "p99", "errors", "database", "remote", "own", "samples"}

// operation is an operation with its samples.
type operation struct {
	operations.Figures
	samples int64
}

func (o operation) errorShare() float64 { return float64(o.Errors) / float64(o.Count) }

var operationOrders = listing.Columns[operation]{
	"total":    func(a, b operation) int { return cmp.Compare(a.Total, b.Total) },
	"name":     func(a, b operation) int { return cmp.Compare(a.Name.Name, b.Name.Name) },
	"kind":     func(a, b operation) int { return cmp.Compare(a.Kind.String(), b.Kind.String()) },
	"count":    func(a, b operation) int { return cmp.Compare(a.Count, b.Count) },
	"rate":     func(a, b operation) int { return cmp.Compare(a.Count, b.Count) },
	"p50":      func(a, b operation) int { return cmp.Compare(a.P50, b.P50) },
	"p95":      func(a, b operation) int { return cmp.Compare(a.P95, b.P95) },
	"p99":      func(a, b operation) int { return cmp.Compare(a.P99, b.P99) },
	"errors":   func(a, b operation) int { return cmp.Compare(a.errorShare(), b.errorShare()) },
	"database": func(a, b operation) int { return cmp.Compare(a.Database, b.Database) },
	"remote":   func(a, b operation) int { return cmp.Compare(a.Remote, b.Remote) },
	"own":      func(a, b operation) int { return cmp.Compare(a.Own(), b.Own()) },
	"samples":  func(a, b operation) int { return cmp.Compare(a.samples, b.samples) },
}

// Operations returns a page of the wanted operations of the service in the query.
func Operations(s *store.Store, q listing.Query, wanted func(operations.Name) bool) (out OperationsAnswer) {
	figures, start, end := s.Operations(q.Service)
	samples, all := s.OperationSamples(q.Service)
	found := []operation{}
	for _, f := range figures {
		if wanted(f.Name) && q.Wants([]string{q.Service}, f.Name.Name, f.Kind.String()) {
			found = append(found, operation{f, samples[f.Name]})
		}
	}
	out.Count, out.Operations, out.Unread = len(found), []OperationAnswer{}, !all
	out.Start, out.End = answer.Nanos(start), answer.Nanos(end)
	seconds := float64(max(1, end-min(start, end))) / 1e9
	for _, o := range listing.Page(q, found, operationOrders) {
		texts := answer.PerEntry(answer.MaxTexts, listing.PageSize, &out.Omissions)
		listed := OperationAnswer{
			Name: texts.Text(o.Name.Name), Kind: o.Kind.String(), Count: o.Count, Rate: float64(o.Count) / seconds, P50: o.P50, P95: o.P95, P99: o.P99,
			Errors: o.Errors, Total: o.Total, Database: o.Database, Remote: o.Remote, Own: o.Own(), Samples: o.samples, Slowest: []SlowAnswer{},
		}
		for _, slow := range o.Slowest {
			listed.Slowest = append(listed.Slowest, SlowAnswer{hex.EncodeToString(slow.Trace[:]), hex.EncodeToString(slow.Span[:]), slow.Duration})
		}
		out.Operations = append(out.Operations, listed)
	}
	return out
}
