// SPDX-License-Identifier: Apache-2.0

package profiledialectextension

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

func TestREADMEConfigs(t *testing.T) { metadatatest.CheckREADME(t, "extensions", NewFactory()) }

func TestConfig(t *testing.T) {
	for _, dialect := range []string{"v1_9", "v1_10", "v1_11"} {
		assert.NoError(t, (&Config{Dialect: dialect}).Validate())
	}
	metadatatest.ErrorHas(t, (&Config{Dialect: "1.9"}).Validate(), `dialect: "1.9" "v1_9" "v1_10" "v1_11"`, "1.9")
	assert.Error(t, confmap.NewFromStringMap(map[string]any{"dialects": "v1_9"}).Unmarshal(createDefaultConfig()))
}
