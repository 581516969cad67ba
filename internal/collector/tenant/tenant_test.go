// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/client"
)

type attributes map[string]any

func (a attributes) GetAttribute(name string) any { return a[name] }
func (a attributes) GetAttributeNames() (names []string) {
	for name := range a {
		names = append(names, name)
	}
	return names
}

func TestFromContext(t *testing.T) {
	assert.Zero(t, FromContext(t.Context()))
	user := client.NewContext(t.Context(), client.Info{Auth: attributes{"username": "ann"}})
	assert.Equal(t, Tenant{Other, "ann"}, FromContext(user))
	unnamed := client.NewContext(t.Context(), client.Info{Auth: attributes{"raw": []byte{1}}})
	assert.Equal(t, Tenant{Ingress: Other}, FromContext(unnamed))

	// Metadata is what clients send.
	headers := client.NewContext(t.Context(), client.Info{Metadata: client.NewMetadata(map[string][]string{"sentry.project_id": {"42"}, "subject": {"ann"}})})
	assert.Zero(t, FromContext(headers))

	// A receiver's tenant replaces that of an authenticator, whose attributes stay.
	project := NewContext(NewContext(user, Tenant{Sentry, "41"}), Tenant{Sentry, "42"})
	assert.Equal(t, Tenant{Sentry, "42"}, FromContext(project))
	assert.Equal(t, "ann", client.FromContext(project).Auth.GetAttribute("username"))
	assert.Equal(t, []string{"username"}, client.FromContext(project).Auth.GetAttributeNames())
	assert.Nil(t, client.FromContext(NewContext(t.Context(), Tenant{Sentry, "42"})).Auth.GetAttribute("username"))
}

func TestTextsDiffer(t *testing.T) {
	seen := map[string]Tenant{}
	for _, tenant := range []Tenant{{}, {Ingress: Other}, {Sentry, ""}, {Sentry, "42"}, {Measure, "42"}, {Other, "42"}, {Sentry, "1/42"}, {Other, "\x00"}} {
		assert.NotContains(t, seen, tenant.String())
		seen[tenant.String()] = tenant
		assert.Equal(t, tenant, Parse(tenant.String()))
	}
	for _, text := range []string{"42", "0/42", "9/42", "1", "1x42", "/"} {
		assert.Zero(t, Parse(text), text)
	}
}
