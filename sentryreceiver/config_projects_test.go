// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

func TestValidateProjects(t *testing.T) {
	const good = "id: 1, public_keys: [a]"
	for text, want := range map[string]string{
		`projects:`:    `projects: empty`,
		`projects: []`: `projects: empty`,
		`projects: [{` + good + `}, {public_keys: [b]}]`:                             `projects[1].id: 42`,
		`projects: [{` + good + `}, {id: 1, public_keys: [b]}]`:                      `projects[1].id: same projects[0]`,
		`projects: [{id: -1, public_keys: [a]}]`:                                     `projects[0]::id`,
		`projects: [{id: shop, public_keys: [a]}]`:                                   `projects[0]::id`,
		`projects: [{id: 1}]`:                                                        `projects[0].public_keys: empty`,
		`projects: [{id: 1, public_keys: []}]`:                                       `projects[0].public_keys: empty`,
		`projects: [{id: 1, public_keys: [a, "b:secret"]}]`:                          `projects[0].public_keys[1]: 64 letters`,
		`projects: [{id: 1, public_keys: [a, a]}]`:                                   `projects[0].public_keys[1]: same projects[0].public_keys[0]`,
		`projects: [{` + good + `}, {id: 2, public_keys: [b, a]}]`:                   `projects[1].public_keys[1]: same projects[0].public_keys[0]`,
		`projects: [{` + good + `, resource_attributes: {"": x}}]`:                   `projects[0].resource_attributes[""]: name`,
		`projects: [{` + good + `, resource_attributes: {"a b": x}}]`:                `projects[0].resource_attributes["a b"]: name spaces`,
		`projects: [{` + good + `, resource_attributes: {sentry.project_id: 2}}]`:    `projects[0].resource_attributes["sentry.project_id"]: "sentry."`,
		`projects: [{` + good + `, resource_attributes: {a: }}]`:                     `projects[0].resource_attributes["a"]: empty`,
		`projects: [{` + good + `, resource_attributes: {service.name: ""}}]`:        `projects[0].resource_attributes["service.name"]: empty`,
		`projects: [{` + good + `, resource_attributes: {service.version: 1.10}}]`:   `projects[0].resource_attributes["service.version"]: number string`,
		`projects: [{` + good + `, resource_attributes: {a: []}}]`:                   `projects[0].resource_attributes["a"]: empty`,
		`projects: [{` + good + `, resource_attributes: {a: [1, x]}}]`:               `projects[0].resource_attributes["a"]: integer string`,
		`projects: [{` + good + `, resource_attributes: {a: [[1]]}}]`:                `projects[0].resource_attributes["a"]: list`,
		`projects: [{` + good + `, resource_attributes: {a: {b: 1}}}]`:               `projects[0].resource_attributes["a"]: list`,
		`projects: [{` + good + `, resource_attributes: {a: .nan}}]`:                 `projects[0].resource_attributes["a"]: NaN`,
		`projects: [{` + good + `, resource_attributes: {a: 2026-01-01}}]`:           `projects[0].resource_attributes["a"]: list`,
		`projects: [{` + good + `, resource_attributes: {a: 18446744073709551615}}]`: `projects[0].resource_attributes["a"]: list`,
	} {
		_, err := load(t, text)
		metadatatest.ErrorHas(t, err, want, text)
		assert.NotContains(t, err.Error(), "secret")
	}
}
