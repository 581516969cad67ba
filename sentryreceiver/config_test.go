// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
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
	assert.Equal(t, "localhost:4319", cfg.HTTP.NetAddr.Endpoint)
	assert.Equal(t, int64(100<<20), cfg.HTTP.MaxRequestBodySize)
	assert.Equal(t, 30*time.Second, cfg.HTTP.WriteTimeout, "confighttp's defaults are the base")
	assert.Equal(t, int64(50<<20), cfg.MaxProfileSize)
	assert.Equal(t, profile.Lenient, cfg.Validation)
	assert.Equal(t, "wall", cfg.ProfileType)
	assert.Equal(t, 10*time.Second, cfg.BackpressurePause)
	assert.False(t, cfg.KeepOriginalPayload)
	assert.Empty(t, cfg.PathPrefix)
	assert.Empty(t, cfg.TunnelPath)
	assert.Nil(t, cfg.Projects)
	assert.Equal(t, sentryitems.DefaultSettings(), cfg.translation())
}

func TestEveryKey(t *testing.T) {
	cfg, err := load(t, `
endpoint: 0.0.0.0:9000
max_request_body_size: 1000
compression_algorithms: ["", gzip]
response_headers: {X-Served-By: us}
cors: {allowed_origins: ["https://shop.example"]}
include_metadata: true
keepalive: {idle_timeout: 5s}
path_prefix: /sentry
tunnel_path: /tunnel
projects:
  - {id: 18446744073709551615, public_keys: [public], resource_attributes: {service.name: shop, a: [1, 2], b: [0.5], c: [x, "1"]}}
  - {id: 1, public_keys: [a, b], disabled: true}
max_profile_size: 500
validation: strict
profile_type: cpu
keep_original_payload: true
backpressure_pause: 1m
connections: {max: 10, max_per_peer: 2, trusted_proxies: [192.0.2.1], min_body_rate: 0}
`)
	require.NoError(t, err)
	assert.Equal(t, "0.0.0.0:9000", cfg.HTTP.NetAddr.Endpoint)
	assert.Equal(t, int64(1000), cfg.HTTP.MaxRequestBodySize)
	assert.Equal(t, []string{"", "gzip"}, cfg.HTTP.CompressionAlgorithms, "instead of the defaults")
	assert.True(t, cfg.HTTP.IncludeMetadata)
	assert.True(t, restrictsOrigins(&cfg.HTTP))
	assert.Equal(t, "/sentry", cfg.PathPrefix)
	assert.Equal(t, "/tunnel", cfg.TunnelPath)
	assert.Equal(t, []ProjectConfig{
		{ID: math.MaxUint64, PublicKeys: []string{"public"}, ResourceAttributes: map[string]any{
			"service.name": "shop", "a": []any{1, 2}, "b": []any{0.5}, "c": []any{"x", "1"},
		}},
		{ID: 1, PublicKeys: []string{"a", "b"}, Disabled: true},
	}, cfg.Projects)
	assert.Equal(t, int64(500), cfg.MaxProfileSize)
	assert.Equal(t, profile.Strict, cfg.Validation)
	assert.Equal(t, "cpu", cfg.ProfileType)
	assert.True(t, cfg.KeepOriginalPayload)
	assert.Equal(t, time.Minute, cfg.BackpressurePause)
	assert.Equal(t, httpserver.Limits{Max: 10, MaxPerPeer: 2, TrustedProxies: []string{"192.0.2.1"}}, cfg.Connections)
}

func TestUnknownKeysFail(t *testing.T) {
	for text, key := range map[string]string{"endpiont: localhost:1": "endpiont", "http: {endpoint: localhost:1}": "http", "cors: {origins: []}": "origins",
		"validate: strict": "validate", "projects: [{id: 1, keys: [a]}]": "keys"} {
		_, err := load(t, text)
		assert.ErrorContains(t, err, key+": is not a known key", text)
	}
}

func TestValidate(t *testing.T) {
	for text, want := range map[string]string{
		`endpoint: ""`:                         `endpoint: localhost:4319 empty`,
		`max_request_body_size: 0`:             `max_request_body_size: 2147483647 104857600`,
		`max_request_body_size: 99999999999`:   `max_request_body_size: 99999999999`,
		`max_profile_size: -1`:                 `max_profile_size: -1 2147483647 52428800`,
		`validation: Strict`:                   `validation: "Strict" "lenient" "strict"`,
		`max_bytes_in_flight: 1000`:            `max_bytes_in_flight: 1000 331350016 104857600 65536 16777216`,
		`dedup: {max_ids: -1}`:                 `dedup: max_ids: -1 10000000`,
		`dedup: {max_age: 0s}`:                 `dedup: max_age: 0s positive`,
		`dedup: {max_age: 24}`:                 `dedup::max_age: 24 24s unit`,
		`drop_resent: {max_ids: 1}`:            `drop_resent: renamed`,
		`connections: {max: 0}`:                `connections: max: 8192`,
		`connections: {trusted_proxies: [x]}`:  `trusted_proxies: "x" 10.0.0.0/8`,
		`read_timeout: 30`:                     `read_timeout: 30 unit`,
		`profile_type: off`:                    `profile_type: "off" "wall" "cpu"`,
		`backpressure_pause: 0s`:               `backpressure_pause: 0s 1s 24h0m0s 10s seconds`,
		`backpressure_pause: 1500ms`:           `backpressure_pause: 1.5s seconds`,
		`backpressure_pause: 48h`:              `backpressure_pause: 48h0m0s seconds`,
		`path_prefix: sentry`:                  `path_prefix: "sentry" "/sentry" slash`,
		`path_prefix: /sentry/`:                `path_prefix: "/sentry/" slash`,
		`path_prefix: /a//b`:                   `path_prefix: "/a//b" segments`,
		`path_prefix: /a/../b`:                 `path_prefix: "/a/../b" segments`,
		`path_prefix: /a?b`:                    `path_prefix: "/a?b" ?#{}%`,
		`compression_algorithms: [compress]`:   `compression_algorithms: "compress"`,
		`tunnel_path: tunnel`:                  `tunnel_path: "tunnel" "/tunnel" slash`,
		`tunnel_path: /`:                       `tunnel_path: "/" slash`,
		`tunnel_path: /api/42/envelope`:        `tunnel_path: "/api/42/envelope" "/tunnel" below`,
		"path_prefix: /a\ntunnel_path: /a/api": `tunnel_path: "/a/api" below`,
	} {
		_, err := load(t, text)
		metadatatest.ErrorHas(t, err, want, text)
	}
	_, err := load(t, "validation: no\nprofile_type: no")
	assert.ErrorContains(t, err, "validation: ")
	assert.ErrorContains(t, err, "profile_type: ", "all problems at once")
}

func TestREADMEConfigs(t *testing.T) { metadatatest.CheckREADME(t, "receivers", NewFactory()) }
