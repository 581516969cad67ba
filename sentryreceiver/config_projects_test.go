// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidateProjects(t *testing.T) {
	const good = "id: 1, public_keys: [a]"
	for text, want := range map[string]string{
		`projects:`:    `projects: must not be empty; list the accepted projects, or remove the key to accept every DSN`,
		`projects: []`: `projects: must not be empty`,
		`projects: [{` + good + `}, {public_keys: [b]}]`:                             `projects[1].id: must not be 0 or missing; use the number at the end of the DSN, e.g. 42`,
		`projects: [{` + good + `}, {id: 1, public_keys: [b]}]`:                      `projects[1].id: is 1, the same as in projects[0]; combine the keys in one entry`,
		`projects: [{id: -1, public_keys: [a]}]`:                                     `projects[0].id`,
		`projects: [{id: shop, public_keys: [a]}]`:                                   `projects[0].id`,
		`projects: [{id: 1}]`:                                                        `projects[0].public_keys: must not be empty; use the part of the DSN between // and @`,
		`projects: [{id: 1, public_keys: []}]`:                                       `projects[0].public_keys: must not be empty`,
		`projects: [{id: 1, public_keys: [a, "b:secret"]}]`:                          `projects[0].public_keys[1]: must have 1 to 64 letters, digits, '_' or '-'; use the part of the DSN between // and @`,
		`projects: [{id: 1, public_keys: [a, a]}]`:                                   `projects[0].public_keys[1]: is the same as projects[0].public_keys[0]; keys must be unique`,
		`projects: [{` + good + `}, {id: 2, public_keys: [b, a]}]`:                   `projects[1].public_keys[1]: is the same as projects[0].public_keys[0]; keys must be unique`,
		`projects: [{` + good + `, resource_attributes: {"": x}}]`:                   `projects[0].resource_attributes[""]: the name must not be empty or contain spaces, e.g. service.name`,
		`projects: [{` + good + `, resource_attributes: {"a b": x}}]`:                `projects[0].resource_attributes["a b"]: the name must not be empty or contain spaces`,
		`projects: [{` + good + `, resource_attributes: {sentry.project_id: 2}}]`:    `projects[0].resource_attributes["sentry.project_id"]: the prefix "sentry." is reserved for data of SDKs; use another name`,
		`projects: [{` + good + `, resource_attributes: {a: }}]`:                     `projects[0].resource_attributes["a"]: must not be empty; set a value or remove the name`,
		`projects: [{` + good + `, resource_attributes: {service.name: ""}}]`:        `projects[0].resource_attributes["service.name"]: must not be empty`,
		`projects: [{` + good + `, resource_attributes: {service.version: 1.10}}]`:   `projects[0].resource_attributes["service.version"]: is of type number, must be a string; put it in quotes`,
		`projects: [{` + good + `, resource_attributes: {a: []}}]`:                   `projects[0].resource_attributes["a"]: must not be empty`,
		`projects: [{` + good + `, resource_attributes: {a: [1, x]}}]`:               `projects[0].resource_attributes["a"]: contains values of type integer and string, must be a list of one type`,
		`projects: [{` + good + `, resource_attributes: {a: [[1]]}}]`:                `projects[0].resource_attributes["a"]: must be a string, a number, a boolean, or a list of one of these; put other values in quotes`,
		`projects: [{` + good + `, resource_attributes: {a: {b: 1}}}]`:               `projects[0].resource_attributes["a"]: must be a string, a number, a boolean, or a list of one of these; put other values in quotes`,
		`projects: [{` + good + `, resource_attributes: {a: .nan}}]`:                 `projects[0].resource_attributes["a"]: is NaN, must be finite`,
		`projects: [{` + good + `, resource_attributes: {a: 2026-01-01}}]`:           `projects[0].resource_attributes["a"]: must be a string, a number, a boolean, or a list of one of these; put other values in quotes`,
		`projects: [{` + good + `, resource_attributes: {a: 18446744073709551615}}]`: `projects[0].resource_attributes["a"]: must be a string`,
	} {
		_, err := load(t, text)
		assert.ErrorContains(t, err, want, text)
		assert.NotContains(t, err.Error(), "secret")
	}
}
