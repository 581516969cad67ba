// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"errors"
	"fmt"
	"maps"

	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// RouteConfig is an entry of "dsns": it selects a project for some resources.
type RouteConfig struct {
	// Match has a pattern for each of some resource attributes, where * is any text. A resource
	// must have all these attributes.
	Match map[string]string `mapstructure:"match"`

	// DSN is the project. Several entries may have the same one.
	DSN configopaque.String `mapstructure:"dsn"`
}

// maxRoutes bounds the projects, because each has its own queues: about 3 MiB of memory per project
// while they are empty.
const maxRoutes = 100

func (c *Config) validateDSNs() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(c.DSNs) == 0 {
		return nil
	}
	if len(c.DSNs) > maxRoutes {
		problem("dsns: has %d entries, must have at most %d; use additional exporters", len(c.DSNs), maxRoutes)
	}
	// Without them, the sender would wait for the slowest project.
	if !c.Queue.HasValue() {
		problem("sending_queue: must be enabled with dsns, otherwise an outage of one project stops the others")
	} else if queue := c.Queue.Get(); queue.BlockOnOverflow || queue.WaitForResult {
		problem("sending_queue: block_on_overflow and wait_for_result must be false with dsns, otherwise an outage of one project stops the others")
	}
	keys := map[string]string{} // by project
	if dsn, err := sentry.ParseDSN(string(c.DSN)); err == nil {
		keys[projectName(dsn)] = dsn.PublicKey
	}
	for i, route := range c.DSNs {
		if len(route.Match) == 0 {
			problem("dsns[%d]::match: must have at least one resource attribute, e.g. {service.name: shop}", i)
		}
		for key, pattern := range route.Match {
			if key == "" || pattern == "" {
				problem("dsns[%d]::match: %q: %q is incomplete, must be a resource attribute and a pattern; use * for any text", i, key, pattern)
			}
		}
		for j, other := range c.DSNs[:i] {
			if maps.Equal(route.Match, other.Match) {
				problem("dsns[%d]::match: is the same as dsns[%d]::match, which applies first; remove one of them", i, j)
				break
			}
		}
		dsn, err := sentry.ParseDSN(string(route.DSN))
		if err != nil {
			problem("dsns[%d]::dsn: %w; expected https://<key>@<host>/<project number>", i, err)
			continue
		}
		if key, known := keys[projectName(dsn)]; known && key != dsn.PublicKey {
			problem("dsns[%d]::dsn: has another key for the project %s; use one key for each project", i, projectName(dsn))
		}
		keys[projectName(dsn)] = dsn.PublicKey
	}
	return errors.Join(problems...)
}

// projectName is the name of a project in metrics, logs and the storage: host, path and number,
// which are no secrets.
func projectName(dsn sentry.DSN) string { return dsn.Host + dsn.Path + "/" + dsn.ProjectID }
