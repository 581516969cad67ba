// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidateProjects(t *testing.T) {
	const good = "id: 1, public_keys: [a]"
	for text, want := range map[string]string{
		`projects:`:    `projects: must not be empty, list those that may send, or leave the key out to accept every DSN`,
		`projects: []`: `projects: must not be empty`,
		`projects: [{` + good + `}, {public_keys: [b]}]`:                             `projects[1].id: must not be 0 or left out, give the number at the end of the DSN, e.g. 42`,
		`projects: [{` + good + `}, {id: 1, public_keys: [b]}]`:                      `projects[1].id: is 1, as in projects[0], put the keys of both into one entry`,
		`projects: [{id: -1, public_keys: [a]}]`:                                     `projects[0].id`,
		`projects: [{id: shop, public_keys: [a]}]`:                                   `projects[0].id`,
		`projects: [{id: 1}]`:                                                        `projects[0].public_keys: must not be empty, give the part of the DSN between // and @`,
		`projects: [{id: 1, public_keys: []}]`:                                       `projects[0].public_keys: must not be empty`,
		`projects: [{id: 1, public_keys: [a, "b:secret"]}]`:                          `projects[0].public_keys[1]: must have 1 to 64 letters, digits, '_' or '-', as the part of the DSN between // and @`,
		`projects: [{id: 1, public_keys: [a, a]}]`:                                   `projects[0].public_keys[1]: is the key of projects[0].public_keys[0], must be in one place only`,
		`projects: [{` + good + `}, {id: 2, public_keys: [b, a]}]`:                   `projects[1].public_keys[1]: is the key of projects[0].public_keys[0], must be in one place only`,
		`projects: [{` + good + `, resource_attributes: {"": x}}]`:                   `projects[0].resource_attributes[""]: the name must not be empty or have blanks, give one such as service.name`,
		`projects: [{` + good + `, resource_attributes: {"a b": x}}]`:                `projects[0].resource_attributes["a b"]: the name must not be empty or have blanks`,
		`projects: [{` + good + `, resource_attributes: {sentry.project_id: 2}}]`:    `projects[0].resource_attributes["sentry.project_id"]: names in "sentry." say what the SDK sent, choose another`,
		`projects: [{` + good + `, resource_attributes: {a: }}]`:                     `projects[0].resource_attributes["a"]: must not be empty, give a value or leave the name out`,
		`projects: [{` + good + `, resource_attributes: {service.name: ""}}]`:        `projects[0].resource_attributes["service.name"]: must not be empty`,
		`projects: [{` + good + `, resource_attributes: {service.version: 1.10}}]`:   `projects[0].resource_attributes["service.version"]: is a number, must be text: put it in quotes`,
		`projects: [{` + good + `, resource_attributes: {a: []}}]`:                   `projects[0].resource_attributes["a"]: must not be empty`,
		`projects: [{` + good + `, resource_attributes: {a: [1, x]}}]`:               `projects[0].resource_attributes["a"]: has a text beside a whole number, must be a list of one kind`,
		`projects: [{` + good + `, resource_attributes: {a: [[1]]}}]`:                `projects[0].resource_attributes["a"]: must be text, a number, true or false, or a list of one of these, put anything else in quotes`,
		`projects: [{` + good + `, resource_attributes: {a: {b: 1}}}]`:               `projects[0].resource_attributes["a"]: must be text, a number, true or false, or a list of one of these, put anything else in quotes`,
		`projects: [{` + good + `, resource_attributes: {a: .nan}}]`:                 `projects[0].resource_attributes["a"]: is NaN, must be finite`,
		`projects: [{` + good + `, resource_attributes: {a: 2026-01-01}}]`:           `projects[0].resource_attributes["a"]: must be text, a number, true or false, or a list of one of these, put anything else in quotes`,
		`projects: [{` + good + `, resource_attributes: {a: 18446744073709551615}}]`: `projects[0].resource_attributes["a"]: must be text`,
	} {
		_, err := load(t, text)
		assert.ErrorContains(t, err, want, text)
		assert.NotContains(t, err.Error(), "secret")
	}
}
