// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

func TestTenant(t *testing.T) {
	keys := tenantKeys{"sentry.project_id", "service.namespace"}
	assert.Empty(t, keys.of(pprofile.NewProfiles()))
	p := recordedIn("42")
	p.ResourceProfiles().AppendEmpty().Resource().Attributes().PutStr("sentry.project_id", "43")
	assert.Equal(t, "42", keys.of(p), "that of the first resource")
	attributes := p.ResourceProfiles().At(0).Resource().Attributes()
	attributes.PutInt("service.namespace", 7)
	assert.Equal(t, "42", keys.of(p), "by the first key that is there")
	attributes.Remove("sentry.project_id")
	assert.Equal(t, "7", keys.of(p))
	attributes.PutStr("service.namespace", strings.Repeat("x", 1<<20))
	assert.Len(t, keys.of(p), maxTenant)
}
