// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// TestSourceOf: a notice names the service of a message, and has advice for Node.js only if the
// whole message comes from Sentry's SDK for it.
func TestSourceOf(t *testing.T) {
	type source struct{ service, language, sdk string }
	node, python := source{"shop", "nodejs", "sentry.javascript.node"}, source{"api", "python", "sentry.python"}
	for name, test := range map[string]struct {
		sources []source
		service string
		node    bool
	}{
		"none":                 {nil, "", false},
		"Node.js":              {[]source{node}, "shop", true},
		"two resources":        {[]source{node, node}, "shop", true},
		"Python":               {[]source{python}, "api", false},
		"both":                 {[]source{node, python}, "", false},
		"three, not the first": {[]source{node, python, python}, "", false},
		"OpenTelemetry's SDK":  {[]source{{"shop", "nodejs", "opentelemetry"}}, "shop", false},
	} {
		profiles := pprofile.NewProfiles()
		for _, from := range test.sources {
			attributes := profiles.ResourceProfiles().AppendEmpty().Resource().Attributes()
			attributes.PutStr(semconv.ServiceName, from.service)
			attributes.PutStr(semconv.TelemetrySDKLanguage, from.language)
			attributes.PutStr(semconv.TelemetrySDKName, from.sdk)
		}
		service, fromNode := sourceOf(profiles)
		assert.Equal(t, test.service, service, name)
		assert.Equal(t, test.node, fromNode, name)
	}
}
