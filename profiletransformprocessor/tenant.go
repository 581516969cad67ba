// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// tenantKeys are the resource attributes that identify the tenant of a message. As in
// spanlink.Keys, the first one that is present is used.
type tenantKeys []string

// maxTenant bounds the length of tenant names. Tenants whose names share a prefix of this length
// also share limits.
const maxTenant = 256

// of returns the tenant of the first resource. The whole message counts toward this tenant, because
// receivers send one message per project.
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
