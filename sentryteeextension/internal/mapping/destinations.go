// SPDX-License-Identifier: Apache-2.0

// Package mapping determines the destination of the requests of each project, and replaces the
// project and key in them.
package mapping

import (
	"net/url"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Destination is the server, project and key that requests of a project are sent to.
type Destination struct {
	Base *url.URL   // of the server
	dsn  sentry.DSN // zero = project and key are the same as ours
}

// IsMapped reports whether project and key at Sentry differ from ours.
func (d *Destination) IsMapped() bool { return d.dsn.PublicKey != "" }

// Destinations has the destination of each project.
type Destinations struct {
	byProject map[string]*Destination
	others    *Destination // nil = requests of other projects are not forwarded
}

// NewDestinations returns the destinations of a valid configuration: DSNs by project, and an
// address for all other projects, "" if they are not forwarded.
func NewDestinations(dsns map[string]string, upstream string) *Destinations {
	d := &Destinations{byProject: map[string]*Destination{}}
	if base, err := url.Parse(upstream); err == nil && upstream != "" {
		d.others = &Destination{Base: base}
	}
	for project, text := range dsns {
		dsn, err := sentry.ParseDSN(text)
		if err != nil {
			continue
		}
		base := &url.URL{Scheme: dsn.Scheme, Host: dsn.Host, Path: dsn.Path}
		if plain, err := url.PathUnescape(dsn.Path); err == nil {
			base.Path, base.RawPath = plain, dsn.Path
		}
		d.byProject[project] = &Destination{Base: base, dsn: dsn}
	}
	return d
}

// Hosts returns the host and port of each destination.
func (d *Destinations) Hosts() (hosts []string) {
	if d.others != nil {
		hosts = append(hosts, d.others.Base.Host)
	}
	for _, mapped := range d.byProject {
		hosts = append(hosts, mapped.Base.Host)
	}
	return hosts
}

// Of returns the destination of a project, or nil if it has none.
func (d *Destinations) Of(project string) *Destination {
	if mapped := d.byProject[project]; mapped != nil {
		return mapped
	}
	return d.others
}
