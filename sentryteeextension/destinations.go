// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// ProjectConfig maps one of our projects, with all its keys, to a DSN of Sentry.
type ProjectConfig struct {
	// ID is the project number at the end of our DSN.
	ID uint64 `mapstructure:"id"`

	// UpstreamDSN is Sentry's DSN for the data of the project.
	UpstreamDSN string `mapstructure:"upstream_dsn"`
}

// validateProjects checks each project, and that no project occurs twice.
func validateProjects(projects []ProjectConfig) (problems []error) {
	seen := map[uint64]int{}
	for i, p := range projects {
		switch first, again := seen[p.ID]; {
		case p.ID == 0:
			problems = append(problems, fmt.Errorf("projects[%d].id: must not be 0; use the number at the end of your DSN, e.g. 42", i))
		case again:
			problems = append(problems, fmt.Errorf("projects[%d].id: is %d, the same as in projects[%d]; use one entry for each project", i, p.ID, first))
		default:
			seen[p.ID] = i
		}
		if _, err := sentry.ParseDSN(p.UpstreamDSN); err != nil {
			problems = append(problems, fmt.Errorf("projects[%d].upstream_dsn: %w; use Sentry's DSN, e.g. https://key@o123.ingest.us.sentry.io/4507", i, err))
		}
	}
	return problems
}

// destination is the server, project and key that requests of a project are sent to.
type destination struct {
	base *url.URL
	dsn  sentry.DSN // zero = project and key are the same as ours
}

func (d *destination) isMapped() bool { return d.dsn.PublicKey != "" }

// destinations has the destination of each project.
type destinations struct {
	byProject map[string]*destination
	others    *destination // nil = requests of other projects are not forwarded
}

// errNoUpstream is the error for requests of a project that is not configured, if there is no upstream for other projects.
var errNoUpstream = errors.New("the project has no upstream")

// newDestinations returns the destinations of a valid configuration.
func newDestinations(cfg *Config) *destinations {
	d := &destinations{byProject: map[string]*destination{}}
	if base, err := url.Parse(cfg.Upstream); err == nil && cfg.Upstream != "" {
		d.others = &destination{base: base}
	}
	for _, p := range cfg.Projects {
		dsn, err := sentry.ParseDSN(p.UpstreamDSN)
		if err != nil {
			continue
		}
		base := &url.URL{Scheme: dsn.Scheme, Host: dsn.Host, Path: dsn.Path}
		if plain, err := url.PathUnescape(dsn.Path); err == nil {
			base.Path, base.RawPath = plain, dsn.Path
		}
		d.byProject[fmt.Sprint(p.ID)] = &destination{base: base, dsn: dsn}
	}
	return d
}

// of returns the destination of a project, or nil if it has none.
func (d *destinations) of(project string) *destination {
	if mapped := d.byProject[project]; mapped != nil {
		return mapped
	}
	return d.others
}
