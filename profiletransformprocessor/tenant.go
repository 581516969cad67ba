// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// tenantKeys are the resource attributes that name the tenant of a message: the first that is there counts, as for links.
type tenantKeys []string

// maxTenant bounds the text that is kept of a tenant. Tenants that differ only behind it share a share.
const maxTenant = 256

// of returns the tenant of the first resource, to which the whole message counts: receivers send a message per project.
func (keys tenantKeys) of(profiles pprofile.Profiles) string {
	if profiles.ResourceProfiles().Len() == 0 {
		return ""
	}
	attributes := profiles.ResourceProfiles().At(0).Resource().Attributes()
	for _, key := range keys {
		if value, ok := attributes.Get(key); ok {
			text := value.AsString()
			return strings.Clone(text[:min(len(text), maxTenant)])
		}
	}
	return ""
}
