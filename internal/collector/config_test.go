// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/confmap"
)

type serverConfig struct {
	HTTP confighttp.ServerConfig `mapstructure:",squash"`
	Own  string                  `mapstructure:"own"`
}

func (c *serverConfig) Unmarshal(conf *confmap.Conf) error { return UnmarshalConfig(conf, c) }

type clientConfig struct {
	HTTP confighttp.ClientConfig `mapstructure:",squash"`
	Own  string                  `mapstructure:"own"`
}

func (c *clientConfig) Unmarshal(conf *confmap.Conf) error { return UnmarshalConfig(conf, c) }

func TestKnownKeys(t *testing.T) {
	server := serverConfig{HTTP: confighttp.NewDefaultServerConfig()}
	require.NoError(t, read(&server, map[string]any{"endpoint": "localhost:1", "read_timeout": "5s", "own": "x"}))
	assert.Equal(t, "localhost:1", server.HTTP.NetAddr.Endpoint)
	assert.Equal(t, 5*time.Second, server.HTTP.ReadTimeout)
	assert.Equal(t, "x", server.Own)

	client := clientConfig{HTTP: confighttp.NewDefaultClientConfig()}
	require.NoError(t, read(&client, map[string]any{"timeout": "5s", "tls": map[string]any{"insecure": true}, "own": "x"}))
	assert.Equal(t, 5*time.Second, client.HTTP.Timeout)
	assert.True(t, client.HTTP.TLS.Insecure)
	assert.Equal(t, "x", client.Own)
}

func TestUnknownKeys(t *testing.T) {
	for key, keys := range map[string]map[string]any{
		"endpiont": {"endpiont": "localhost:1"},
		"insecrue": {"tls": map[string]any{"insecrue": true}},
		"http":     {"http": map[string]any{"endpoint": "localhost:1"}}, // the name of the field
	} {
		assert.ErrorContains(t, read(&serverConfig{}, keys), "keys: "+key)
		assert.ErrorContains(t, read(&clientConfig{}, keys), "keys: "+key)
	}
	err := read(&serverConfig{}, map[string]any{"endpiont": "localhost:1"})
	assert.ErrorContains(t, err, "collector.serverConfig")
	assert.NotContains(t, err.Error(), "struct {")
}

type nestedConfig struct {
	HTTP confighttp.ServerConfig `mapstructure:",squash"`
	Own  struct {
		Age   time.Duration  `mapstructure:"age"`
		Other *time.Duration `mapstructure:"other"`
		Sizes int            `mapstructure:"sizes"`
	} `mapstructure:"own"`
	List []struct {
		Wait time.Duration `mapstructure:"wait"`
	} `mapstructure:"list"`
}

func (c *nestedConfig) Unmarshal(conf *confmap.Conf) error { return UnmarshalConfig(conf, c) }

func TestDurationsWithoutUnit(t *testing.T) {
	var cfg nestedConfig
	err := read(&cfg, map[string]any{
		"read_timeout": 30,
		"own":          map[string]any{"age": 24, "other": 1.5, "sizes": 7},
		"list":         []any{map[string]any{"wait": "1s"}, map[string]any{"wait": 2}},
	})
	for _, message := range []string{
		"read_timeout: is 30, ", "30s",
		"own::age: is 24, ", "own::other: is 1.5, ", "list[1]::wait: is 2, ",
	} {
		assert.ErrorContains(t, err, message)
	}
	assert.NotContains(t, err.Error(), "sizes")
	assert.NotContains(t, err.Error(), "list[0]")

	require.NoError(t, read(&nestedConfig{}, map[string]any{
		"read_timeout": 0, "own": map[string]any{"age": "24h", "other": nil}, "list": nil,
	}), "zero needs no unit")
}

func read(cfg any, keys map[string]any) error { return confmap.NewFromStringMap(keys).Unmarshal(cfg) }
