// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// projects holds the accepted projects by ID. nil accepts every project and key.
type projects struct {
	byID  map[string]*project
	byKey map[string]*project
}

// project is an entry of the configuration, prepared for requests.
type project struct {
	disabled bool
	resource []fromsentry.Attribute // sorted by key
}

// anyProject is the project of all requests if no projects are configured.
var anyProject = &project{}

// newProjects returns the projects of a valid configuration.
func newProjects(configs []ProjectConfig) *projects {
	if configs == nil {
		return nil
	}
	all := &projects{byID: map[string]*project{}, byKey: map[string]*project{}}
	for _, config := range configs {
		p := &project{disabled: config.Disabled, resource: resourceAttributes(config.ResourceAttributes)}
		all.byID[strconv.FormatUint(config.ID, 10)] = p
		for _, key := range config.PublicKeys {
			all.byKey[key] = p
		}
	}
	return all
}

func resourceAttributes(configured map[string]any) (attributes []fromsentry.Attribute) {
	for _, key := range slices.Sorted(maps.Keys(configured)) {
		value := pcommon.NewValueEmpty()
		if err := value.FromRaw(configured[key]); err != nil {
			panic(err) // unreachable: Validate checks the types
		}
		attributes = append(attributes, fromsentry.Attribute{Key: key, Value: value})
	}
	return attributes
}

// Reasons why well-formed credentials are rejected.
const (
	reasonProjectUnknown  = "project_unknown"
	reasonProjectDisabled = "project_disabled"
	reasonKeyUnknown      = "key_unknown"
	reasonKeyForeign      = "key_foreign" // it belongs to another project
)

// admit returns the project for the credentials. The error is a *rejection. As in Relay, it is the
// same for all causes (relay-server src/services/projects/project, check_envelope), so that clients
// learn nothing by guessing keys.
func (p *projects) admit(auth sentry.Auth) (*project, error) {
	if p == nil {
		return anyProject, nil
	}
	turnAway := func(reason string) (*project, error) {
		return nil, &rejection{status: http.StatusForbidden, reason: reason, detail: "event submission rejected with_reason: ProjectId"}
	}
	switch project, owner := p.byID[auth.ProjectID], p.byKey[auth.PublicKey]; {
	case project == nil:
		return turnAway(reasonProjectUnknown)
	case owner == nil:
		return turnAway(reasonKeyUnknown)
	case owner != project:
		return turnAway(reasonKeyForeign)
	case project.disabled:
		return turnAway(reasonProjectDisabled)
	default:
		return project, nil
	}
}
