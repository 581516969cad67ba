// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
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
		"endpiont":      {"endpiont": "localhost:1"},
		"tls::insecrue": {"tls": map[string]any{"insecrue": true}},
		"http":          {"http": map[string]any{"endpoint": "localhost:1"}}, // the name of the field
	} {
		assert.ErrorContains(t, read(&serverConfig{}, keys), key+": is not a known key")
		assert.ErrorContains(t, read(&clientConfig{}, keys), key+": is not a known key")
	}
}

func TestNearest(t *testing.T) {
	known := []string{"endpoint", "max_age", "max_bytes", "queue_size", "public_keys", "store"}
	for key, want := range map[string]string{
		"endpiont": "endpoint", "Endpoint": "endpoint", "max-age": "max_age", "age": "max_age", "size": "queue_size", "keys": "public_keys",
		"public_key": "public_keys", "stores": "store", "timeout": "", "x": "", "": "",
	} {
		assert.Equal(t, want, Nearest(key, known), key)
	}
}

type sizesConfig struct {
	Bytes int64            `mapstructure:"bytes"`
	Sizes map[string]int64 `mapstructure:"max_sizes"`
	IDs   int              `mapstructure:"ids"`
	Text  string           `mapstructure:"text"`
}

func (c *sizesConfig) Unmarshal(conf *confmap.Conf) error { return UnmarshalConfig(conf, c) }

func TestSizes(t *testing.T) {
	for text, want := range map[any]int64{
		"100MiB": 100 << 20, "1.5GiB": 3 << 29, "1 kB": 1000, "7B": 7, "2TB": 2e12, "-1KiB": -1024, 5: 5, 1e6: 1e6,
	} {
		var cfg sizesConfig
		require.NoError(t, read(&cfg, map[string]any{"bytes": text, "max_sizes": map[string]any{"a": text}}), text)
		assert.Equal(t, sizesConfig{Bytes: want, Sizes: map[string]int64{"a": want}}, cfg, text)
	}
	for _, text := range []any{"100M", "1GiBs", "MiB", "", "5", "1e30GiB", "NaN MiB", true, 1.5} {
		assert.ErrorContains(t, read(new(sizesConfig), map[string]any{"bytes": text}), "bytes: is", text)
	}
	assert.ErrorContains(t, read(new(sizesConfig), map[string]any{"ids": "5MiB"}), "ids", "only sizes have units")
}

// A number of an environment variable is text where text is expected, also next to a mistake.
func TestNumbersOfTheEnvironment(t *testing.T) {
	resolver, err := confmap.NewResolver(confmap.ResolverSettings{
		URIs:              []string{"fake:"},
		ProviderFactories: []confmap.ProviderFactory{confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider { return fakeProvider{} })},
		DefaultScheme:     "fake",
	})
	require.NoError(t, err)
	conf, err := resolver.Resolve(t.Context())
	require.NoError(t, err)
	var cfg sizesConfig
	err = conf.Unmarshal(&cfg)
	assert.ErrorContains(t, err, "ids: is ")
	assert.NotContains(t, err.Error(), "text: ")
}

// fakeProvider has a configuration with a reference to the variable NUMBER.
type fakeProvider struct{}

func (fakeProvider) Retrieve(_ context.Context, uri string, _ confmap.WatcherFunc) (*confmap.Retrieved, error) {
	if uri == "fake:NUMBER" {
		return confmap.NewRetrievedFromYAML([]byte("0123"))
	}
	return confmap.NewRetrieved(map[string]any{"text": "${NUMBER}", "ids": "many"})
}
func (fakeProvider) Scheme() string                 { return "fake" }
func (fakeProvider) Shutdown(context.Context) error { return nil }

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
