// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// ServicesAnswer is a page of the list of services.
type ServicesAnswer struct {
	answer.Omissions
	Services []ServiceAnswer `json:"services"`
	Count    int             `json:"count"` // number of matching services
}

// ServiceAnswer is a service with the amounts of its stored data.
type ServiceAnswer struct {
	Name     string `json:"name"`
	Profiles int    `json:"profiles"`
	Traces   int    `json:"traces"`
	Errors   int    `json:"errors"`
	Logs     int    `json:"logs"`
	Points   int    `json:"points"`  // number of data points
	Arrived  string `json:"arrived"` // time of the latest data

	arrived time.Time
}

func (s *ServiceAnswer) entries() int { return s.Profiles + s.Traces + s.Logs + s.Points }

// ServiceColumns are the columns by which the list of services can be sorted.
var ServiceColumns = []string{"name", "profiles", "traces", "errors", "logs", "points", "arrived"}

var serviceOrders = listing.Columns[ServiceAnswer]{
	"name":     func(a, b ServiceAnswer) int { return cmp.Compare(a.Name, b.Name) },
	"profiles": func(a, b ServiceAnswer) int { return cmp.Compare(a.Profiles, b.Profiles) },
	"traces":   func(a, b ServiceAnswer) int { return cmp.Compare(a.Traces, b.Traces) },
	"errors":   func(a, b ServiceAnswer) int { return cmp.Compare(a.Errors, b.Errors) },
	"logs":     func(a, b ServiceAnswer) int { return cmp.Compare(a.Logs, b.Logs) },
	"points":   func(a, b ServiceAnswer) int { return cmp.Compare(a.Points, b.Points) },
	"arrived":  func(a, b ServiceAnswer) int { return a.arrived.Compare(b.arrived) },
}

// Services returns a page of the services.
func (c *Catalog) Services(q listing.Query) (out ServicesAnswer) {
	found := slices.DeleteFunc(c.services(), func(s ServiceAnswer) bool { return !q.Wants([]string{s.Name}, s.Name) })
	out.Count, out.Services = len(found), listing.Page(q, found, serviceOrders)
	c.clip(&out)
	return out
}

// LargestServices returns the services with the most content, by name. Because senders may invent
// names, the number is limited.
func (c *Catalog) LargestServices() (out ServicesAnswer) {
	found := c.services()
	slices.SortStableFunc(found, func(a, b ServiceAnswer) int { return cmp.Compare(b.entries(), a.entries()) })
	out.Count, out.Services = len(found), found[:min(len(found), listing.PageSize)]
	slices.SortFunc(out.Services, serviceOrders["name"])
	c.clip(&out)
	return out
}

func (c *Catalog) clip(a *ServicesAnswer) {
	for i := range a.Services {
		a.Services[i].Name = c.texts(&a.Omissions).Text(a.Services[i].Name)
	}
}

// services returns all services by name.
func (c *Catalog) services() []ServiceAnswer {
	all := services{}
	for _, m := range c.messages {
		for _, p := range m.Profiles {
			all.of(p.Service, m).Profiles++
		}
		for _, f := range m.Fragments {
			s := all.of(f.Service, m)
			s.Errors, s.Logs, s.Points = s.Errors+f.Exceptions, s.Logs+f.Records, s.Points+f.Points
		}
	}
	for _, t := range c.traces {
		for _, f := range t.fragments {
			if s := all.of(f.Service, f.Message); f.Spans > 0 && s.counted != f.Trace {
				s.counted = f.Trace
				s.Traces++
			}
		}
	}
	out := make([]ServiceAnswer, 0, len(all))
	for _, s := range all {
		out = append(out, s.ServiceAnswer)
	}
	slices.SortFunc(out, serviceOrders["name"])
	return out
}

type services map[string]*service

type service struct {
	ServiceAnswer
	counted pcommon.TraceID // the last trace that was counted
}

// of returns the service of a message. Messages must be visited from the newest.
func (s services) of(name string, m *store.Message) *service {
	if s[name] == nil {
		s[name] = &service{ServiceAnswer: ServiceAnswer{Name: name, Arrived: m.Arrived.UTC().Format(time.RFC3339Nano), arrived: m.Arrived}}
	}
	return s[name]
}
