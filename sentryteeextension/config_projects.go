// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"fmt"

	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/mapping"
)

// ProjectConfig maps one of our projects, with all its keys, to a DSN of Sentry.
type ProjectConfig struct {
	// ID is the project number at the end of our DSN.
	ID uint64 `mapstructure:"id"`

	// UpstreamDSN is Sentry's DSN for the data of the project.
	UpstreamDSN configopaque.String `mapstructure:"upstream_dsn"`
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
		if _, err := sentry.ParseDSN(string(p.UpstreamDSN)); err != nil {
			problems = append(problems, fmt.Errorf("projects[%d].upstream_dsn: %w; use Sentry's DSN, e.g. https://key@o123.ingest.us.sentry.io/4507", i, err))
		}
	}
	return problems
}

// destinations returns the destinations of a valid configuration.
func (c *Config) destinations() *mapping.Destinations {
	dsns := map[string]string{}
	for _, p := range c.Projects {
		dsns[fmt.Sprint(p.ID)] = string(p.UpstreamDSN)
	}
	return mapping.NewDestinations(dsns, c.Upstream)
}
