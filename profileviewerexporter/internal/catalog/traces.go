// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"encoding/hex"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// TracesAnswer is a page of the list of traces.
type TracesAnswer struct {
	answer.Omissions
	Traces []TraceListing `json:"traces"`
	Count  int            `json:"count"` // number of matching traces
}

// TraceListing is a trace in a list.
type TraceListing struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Services []string `json:"services"` // at most 20
	Start    string   `json:"start"`
	Duration uint64   `json:"duration"`
	Spans    int      `json:"spans"`
	Errors   int      `json:"errors"`
	Logs     int      `json:"logs"`
	Profiles int      `json:"profiles"` // number of profiles with samples of the trace
	Arrived  string   `json:"arrived"`
}

// TraceColumns are the columns by which the list of traces can be sorted.
var TraceColumns = []string{"-arrived", "name", "start", "duration", "spans", "errors", "logs", "profiles"}

// trace is a trace with its fragments.
type trace struct {
	store.Trace
	fragments []*store.Fragment
}

// services returns the services with spans of the trace.
func (t trace) services() (list []string) {
	for _, f := range t.fragments {
		if f.Spans > 0 {
			list = append(list, f.Service)
		}
	}
	return list
}

func (c *Catalog) traceOrders() listing.Columns[trace] {
	profiles := func(t trace) int { return c.store.LinkedCount(t.ID) }
	return listing.Columns[trace]{
		"arrived":  func(a, b trace) int { return a.Arrived.Compare(b.Arrived) },
		"name":     func(a, b trace) int { return cmp.Compare(a.Name, b.Name) },
		"start":    func(a, b trace) int { return cmp.Compare(a.Start, b.Start) },
		"duration": func(a, b trace) int { return cmp.Compare(a.End-a.Start, b.End-b.Start) },
		"spans":    func(a, b trace) int { return cmp.Compare(a.Spans, b.Spans) },
		"errors":   func(a, b trace) int { return cmp.Compare(a.Errors, b.Errors) },
		"logs":     func(a, b trace) int { return cmp.Compare(a.Records, b.Records) },
		"profiles": func(a, b trace) int { return cmp.Compare(profiles(a), profiles(b)) },
	}
}

// Traces returns a page of the traces.
func (c *Catalog) Traces(q listing.Query) (out TracesAnswer) {
	var found []trace
	for _, t := range c.traces {
		services := t.services()
		if q.Wants(services, append(services, t.Name, hex.EncodeToString(t.ID[:]))...) {
			found = append(found, t)
		}
	}
	out.Count, out.Traces = len(found), []TraceListing{}
	for _, t := range listing.Page(q, found, c.traceOrders()) {
		listed := ListTrace(t.Trace)
		listed.Profiles = c.store.LinkedCount(t.ID)
		listed.Clip(c.texts(&out.Omissions))
		out.Traces = append(out.Traces, listed)
	}
	return out
}

// ListTrace returns the entry of a trace, without the number of its profiles and with texts of any
// length.
func ListTrace(t store.Trace) TraceListing {
	return TraceListing{
		ID: hex.EncodeToString(t.ID[:]), Name: t.Name, Services: t.Services, Start: answer.Nanos(t.Start), Duration: t.End - t.Start,
		Spans: t.Spans, Errors: t.Errors, Logs: t.Records, Arrived: t.Arrived.UTC().Format(time.RFC3339Nano),
	}
}

// Clip shortens the texts.
func (l *TraceListing) Clip(texts *answer.Budget) {
	l.Name = texts.Text(l.Name)
	for i := range l.Services {
		l.Services[i] = texts.Text(l.Services[i])
	}
}
