// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

// load reads a configuration over the defaults.
func load(t *testing.T, text string) (*Config, error) {
	t.Helper()
	return metadatatest.Load(t, createDefaultConfig().(*Config), text)
}

func TestDefaults(t *testing.T) {
	cfg, err := load(t, "")
	require.NoError(t, err)
	require.NoError(t, componenttest.CheckConfigStruct(cfg))
	assert.Equal(t, "localhost:4321", cfg.HTTP.NetAddr.Endpoint)
	assert.Equal(t, 30*time.Second, cfg.HTTP.WriteTimeout, "confighttp's defaults are the base")
	assert.Equal(t, int64(128<<20), cfg.MaxBytes)
	assert.Equal(t, time.Hour, cfg.MaxAge)
	assert.Empty(t, cfg.AllowedHosts)
	assert.Nil(t, cfg.Storage)
}

func TestEveryKey(t *testing.T) {
	cfg, err := load(t, `
endpoint: 0.0.0.0:9000
response_headers: {X-Served-By: us}
max_bytes: 2000000
max_age: 5m
allowed_hosts: [profiles.example.com]
storage: file_storage/viewer
`)
	require.NoError(t, err)
	assert.Equal(t, "0.0.0.0:9000", cfg.HTTP.NetAddr.Endpoint)
	assert.Equal(t, int64(2000000), cfg.MaxBytes)
	assert.Equal(t, 5*time.Minute, cfg.MaxAge)
	assert.Equal(t, []string{"profiles.example.com"}, cfg.AllowedHosts)
	assert.Equal(t, "file_storage/viewer", cfg.Storage.String())
}

func TestUnknownKeysFail(t *testing.T) {
	for text, key := range map[string]string{"endpiont: localhost:1": "endpiont", "http: {endpoint: localhost:1}": "http", "max_size: 1": "max_size"} {
		_, err := load(t, text)
		assert.ErrorContains(t, err, key+": is not a known key", text)
	}
}

func TestValidate(t *testing.T) {
	for text, want := range map[string]string{
		`endpoint: ""`:      `endpoint: localhost:4321 empty`,
		`max_bytes: 0`:      `max_bytes: 1048576 134217728`,
		`max_age: 1ms`:      `max_age: 1ms 1s 1h0m0s`,
		`write_timeout: 0s`: `write_timeout: 0s 30s positive`,
		`allowed_hosts: ["http://profiles.example.com"]`: `allowed_hosts: "http://profiles.example.com" host`,
		`allowed_hosts: ["*"]`:                           `allowed_hosts: "*" host`,
	} {
		_, err := load(t, text)
		metadatatest.ErrorHas(t, err, want, text)
	}
	_, err := load(t, "max_bytes: 1\nmax_age: 0s")
	assert.ErrorContains(t, err, "max_bytes: ")
	assert.ErrorContains(t, err, "max_age: ", "all problems at once")
}

func TestREADMEConfigs(t *testing.T) { metadatatest.CheckREADME(t, "exporters", NewFactory()) }
