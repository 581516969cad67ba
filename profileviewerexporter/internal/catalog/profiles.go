// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// ProfilesAnswer is a page of the list of profiles.
type ProfilesAnswer struct {
	answer.Omissions
	Profiles []ProfileListing `json:"profiles"`
	Count    int              `json:"count"` // number of matching profiles
}

// ProfileListing is a profile in a list. Times are Unix nanoseconds as text, because they exceed
// JavaScript integers; durations are in nanoseconds.
type ProfileListing struct {
	ID        string        `json:"id"`
	Service   string        `json:"service"`
	Name      string        `json:"name,omitempty"`
	ProfileID string        `json:"profile_id,omitempty"`
	Start     string        `json:"start"`
	Duration  uint64        `json:"duration"`
	Threads   int           `json:"threads"`
	Samples   int64         `json:"samples"`
	Weight    int64         `json:"weight"`
	Measure   MeasureAnswer `json:"measure"`
	Spans     int           `json:"spans"`            // number of spans with samples
	Traces    []string      `json:"traces,omitempty"` // names of the traces with the most samples
	Arrived   string        `json:"arrived"`
}

// MeasureAnswer states what the weights of a profile are.
type MeasureAnswer struct {
	Type string `json:"type"`
	Unit string `json:"unit"`
}

// ProfileColumns are the columns by which the list of profiles can be sorted.
var ProfileColumns = []string{"-arrived", "name", "service", "start", "duration", "samples", "threads", "spans"}

// profile is a profile with the names of its traces.
type profile struct {
	*store.Profile
	traces []string
}

// title is the name under which the page shows a profile.
func (p profile) title() string {
	return cmp.Or(p.Name, strings.Join(p.traces, ", "), p.Service)
}

var profileOrders = listing.Columns[profile]{
	"arrived":  func(a, b profile) int { return a.Message.Arrived.Compare(b.Message.Arrived) },
	"name":     func(a, b profile) int { return cmp.Compare(a.title(), b.title()) },
	"service":  func(a, b profile) int { return cmp.Compare(a.Service, b.Service) },
	"start":    func(a, b profile) int { return cmp.Compare(a.Start, b.Start) },
	"duration": func(a, b profile) int { return cmp.Compare(length(a.Profile), length(b.Profile)) },
	"samples":  func(a, b profile) int { return cmp.Compare(a.Samples, b.Samples) },
	"threads":  func(a, b profile) int { return cmp.Compare(a.Threads, b.Threads) },
	"spans":    func(a, b profile) int { return cmp.Compare(len(a.Spans), len(b.Spans)) },
}

// Profiles returns a page of the profiles.
func (c *Catalog) Profiles(q listing.Query) (out ProfilesAnswer) {
	names := c.store.TraceNames()
	named := q.Searches() || q.Column == "name" // the names of all profiles are needed
	var found []profile
	for _, p := range c.profiles {
		one := profile{Profile: p}
		if named {
			one.traces = names.Of(p)
		}
		if q.Wants([]string{p.Service}, append(one.traces, p.Name, p.Service, p.ProfileID, p.Measure.Type, p.Release)...) {
			found = append(found, one)
		}
	}
	out.Count, out.Profiles = len(found), []ProfileListing{}
	for _, p := range listing.Page(q, found, profileOrders) {
		texts := c.texts(&out.Omissions)
		listed := ListProfile(p.Profile, texts)
		for _, name := range names.Of(p.Profile) {
			listed.Traces = append(listed.Traces, texts.Text(name))
		}
		out.Profiles = append(out.Profiles, listed)
	}
	return out
}

func length(p *store.Profile) uint64 { return p.End - min(p.Start, p.End) }

// ListProfile returns the entry of a profile, without the names of its traces.
func ListProfile(p *store.Profile, texts *answer.Budget) ProfileListing {
	return ProfileListing{
		ID: strconv.FormatUint(p.ID, 10), Service: texts.Text(p.Service), Name: texts.Text(p.Name), ProfileID: p.ProfileID,
		Start: answer.Nanos(p.Start), Duration: length(p), Threads: p.Threads, Samples: p.Samples, Weight: p.Weight,
		Measure: ListMeasure(p.Measure, texts), Spans: len(p.Spans), Arrived: p.Message.Arrived.UTC().Format(time.RFC3339Nano),
	}
}

// ListMeasure returns a measure as text.
func ListMeasure(m timeline.Measure, texts *answer.Budget) MeasureAnswer {
	return MeasureAnswer{Type: texts.Text(m.Type), Unit: texts.Text(m.Unit)}
}
