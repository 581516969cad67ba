// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

func TestREADMEConfigs(t *testing.T) { metadatatest.CheckREADME(t, "extensions", NewFactory()) }

func TestFactory(t *testing.T) {
	text, err := os.ReadFile("metadata.yaml")
	require.NoError(t, err)
	var metadata struct {
		Type   string `yaml:"type"`
		Status struct {
			Class     string              `yaml:"class"`
			Stability map[string][]string `yaml:"stability"`
		} `yaml:"status"`
	}
	require.NoError(t, yaml.Unmarshal(text, &metadata))
	assert.Equal(t, NewFactory().Type().String(), metadata.Type)
	assert.Equal(t, "extension", metadata.Status.Class)
	assert.Equal(t, component.StabilityLevelDevelopment, NewFactory().Stability())
	assert.Equal(t, map[string][]string{"development": {"extension"}}, metadata.Status.Stability)
}

func TestUnknownKeys(t *testing.T) {
	for _, keys := range []map[string]any{{"upstrem": "https://a"}, {"spool": map[string]any{"age": "1h"}}, {"answer_timeout": 5}} {
		assert.Error(t, confmap.NewFromStringMap(keys).Unmarshal(createDefaultConfig()), keys)
	}
}

func TestValidate(t *testing.T) {
	for _, upstream := range []string{"https://o1.ingest.sentry.io", "http://localhost:9000/prefix/", "https://[::1]:1"} {
		assert.NoError(t, testConfig(upstream).Validate(), upstream)
	}
	for upstream, want := range map[string]string{
		"":                           "upstream: empty",
		"sentry.io":                  "upstream: https://",
		"https://":                   "upstream: https://",
		"ftp://sentry.io":            "upstream: https://",
		"https://key@sentry.io/1":    "upstream: key",
		"https://%zz":                "upstream: URL",
		"https://sentry.io/?a":       "upstream: query",
		"https://sentry.io/a/../b":   "upstream: dot segments",
		"https://sentry.io/%2e%2e/b": "upstream: dot segments",
	} {
		metadatatest.ErrorHas(t, testConfig(upstream).Validate(), want, upstream)
	}
	for want, edit := range map[string]func(*Config){
		`answer: "both"`:                        func(c *Config) { c.Answer = "both" },
		"answer_timeout: 0s":                    func(c *Config) { c.AnswerTimeout = 0 },
		`on_limit: "drop"`:                      func(c *Config) { c.OnLimit = "drop" },
		`on_limit: "absorb" answer: upstream`:   func(c *Config) { c.OnLimit, c.Answer = onLimitAbsorb, answerUpstream },
		`forward: "errors"`:                     func(c *Config) { c.Forward = map[string]float64{"errors": 1} },
		`forward: "replay_recording"`:           func(c *Config) { c.Forward = map[string]float64{"replay_recording": 1} },
		"forward: event: 1.5":                   func(c *Config) { c.Forward = map[string]float64{"event": 1.5} },
		"forward: span: NaN":                    func(c *Config) { c.Forward = map[string]float64{"span": math.NaN()} },
		"projects[0].id: 0":                     func(c *Config) { c.Projects = []ProjectConfig{{UpstreamDSN: theirDSN}} },
		"projects[1].id: 1 same projects[0]":    func(c *Config) { c.Projects = []ProjectConfig{{1, theirDSN}, {1, theirDSN}} },
		"projects[0].upstream_dsn: dsn_invalid": func(c *Config) { c.Projects = []ProjectConfig{{1, "sentry.io"}} },
		"management_api: upstream":              func(c *Config) { c.Upstream, c.ManagementAPI = "", true },
		"num_consumers: 0":                      func(c *Config) { c.NumConsumers = 0 },
		"max_bytes_in_flight: 1":                func(c *Config) { c.MaxBytesInFlight = 1 },
		"spool: max_bytes: 1":                   func(c *Config) { c.Spool.MaxBytes = 1 },
		"spool: max_age: 200h0m0s":              func(c *Config) { c.Spool.MaxAge = 200 * time.Hour },
		"spool: drain_rate: 0":                  func(c *Config) { c.Spool.DrainRate = 0 },
		"endpoint:":                             func(c *Config) { c.HTTP.Endpoint = "https://a" },
		`compression: "gzip"`:                   func(c *Config) { c.HTTP.Compression = "gzip" },
		"timeout: 0s 30s":                       func(c *Config) { c.HTTP.Timeout = 0 },
	} {
		metadatatest.ErrorHas(t, testConfig("https://a", edit).Validate(), want, want)
	}
}
