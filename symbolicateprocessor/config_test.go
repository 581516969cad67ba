// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

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

func TestEveryKey(t *testing.T) {
	cfg, err := load(t, "store: {directory: /symbols}")
	require.NoError(t, err)
	require.NoError(t, componenttest.CheckConfigStruct(cfg))
	assert.Equal(t, StoreConfig{Directory: "/symbols", ScanInterval: 30 * time.Second, MaxFiles: 50_000, MaxFileBytes: 128 << 20, MaxOpenBytes: 64 << 20, MaxNativeBytes: 4 << 30, MaxIndexBytes: 4 << 30}, cfg.Store)
	assert.Equal(t, "/symbols/.index", cfg.Store.indexes())

	assert.Equal(t, UploadsConfig{MaxTotalSize: 10 << 30}, cfg.Uploads)

	downloads := DownloadsConfig{Timeout: 30 * time.Second, MaxConcurrent: 4, MaxFileBytes: 256 << 20, MaxTotalSize: 10 << 30, RetryAfter: 5 * time.Minute}
	assert.Equal(t, downloads, cfg.Downloads)
	assert.False(t, cfg.Downloads.enabled())

	cfg, err = load(t, "{downloads: {source_map_hosts: [a.example, '*.b.example'], debuginfod_urls: ['http://c.example'], allow_http: true, timeout: 1s, max_concurrent: 2, "+
		"max_file_bytes: 3, max_total_size: 4, retry_after: 5s}, store: {directory: /symbols}}")
	require.NoError(t, err)
	assert.Equal(t, DownloadsConfig{
		SourceMapHosts: []string{"a.example", "*.b.example"}, DebuginfodURLs: []string{"http://c.example"}, AllowHTTP: true,
		Timeout: time.Second, MaxConcurrent: 2, MaxFileBytes: 3, MaxTotalSize: 4, RetryAfter: 5 * time.Second,
	}, cfg.Downloads)
	assert.True(t, cfg.Downloads.enabled())

	assert.Equal(t, HoldConfig{Timeout: 30 * time.Second, MaxBytes: 16 << 20}, cfg.Hold)
	cfg, err = load(t, "{hold: {timeout: 10s, max_bytes: 1}, store: {directory: /symbols}}")
	require.NoError(t, err)
	assert.Equal(t, HoldConfig{Timeout: 10 * time.Second, MaxBytes: 1}, cfg.Hold)

	cfg, err = load(t, "{uploads: {endpoint: 'x:1', token: y, max_total_size: 200000000, tls: {cert_file: z, key_file: z}}, store: {directory: /symbols}}")
	require.NoError(t, err)
	assert.Equal(t, "z", cfg.Uploads.TLS.Get().CertFile)
	assert.Equal(t, int64(200000000), cfg.Uploads.MaxTotalSize)

	cfg, err = load(t, "store: {directory: /symbols, scan_interval: 5s, max_files: 1, max_file_bytes: 2, max_open_bytes: 3, max_native_bytes: 4, max_index_bytes: 5, index_directory: /indexes}")
	require.NoError(t, err)
	assert.Equal(t, StoreConfig{Directory: "/symbols", ScanInterval: 5 * time.Second, MaxFiles: 1, MaxFileBytes: 2, MaxOpenBytes: 3, MaxNativeBytes: 4, MaxIndexBytes: 5, IndexDirectory: "/indexes"}, cfg.Store)
	assert.Equal(t, "/indexes", cfg.Store.indexes())
}

func TestValidate(t *testing.T) {
	for text, want := range map[string]string{
		``:                                   `store::directory: empty`,
		`store: {directory: config_test.go}`: `store::directory: file`,
		`store: {directory: /, scan_interval: 5}`:                                       `store::scan_interval: 5 5s`,
		`store: {directory: /, max_files: 0}`:                                           `store::max_files: 50000`,
		`store: {directory: /, max_file_bytes: 0}`:                                      `store::max_file_bytes:`,
		`store: {directory: /, max_native_bytes: 0}`:                                    `store::max_native_bytes:`,
		`store: {directory: /, max_index_bytes: -1}`:                                    `store::max_index_bytes: -1`,
		`store: {directory: /, max_open_bytes: -1}`:                                     `store::max_open_bytes: -1`,
		`{store: {directory: /}, uploads: {endpoint: "localhost:1"}}`:                   `uploads::token: uploads::endpoint empty`,
		`{store: {directory: /}, uploads: {token: x}}`:                                  `uploads::endpoint: uploads::token empty`,
		`{store: {directory: /}, uploads: {max_total_size: 1}}`:                         `uploads::max_total_size: 104857600`,
		`{store: {directory: /}, downloads: {source_map_hosts: ["https://a.example"]}}`: `downloads::source_map_hosts: "https://a.example" host`,
		`{store: {directory: /}, downloads: {source_map_hosts: ["*.com"]}}`:             `downloads::source_map_hosts: "*.com" top-level`,
		`{store: {directory: /}, downloads: {debuginfod_urls: ["http://a.example"]}}`:   `downloads::debuginfod_urls: "http://a.example" https`,
		`{store: {directory: /}, downloads: {timeout: 5ms}}`:                            `downloads::timeout: 5ms 100ms 30s`,
		`{store: {directory: /}, downloads: {retry_after: 0s}}`:                         `downloads::retry_after: 0s 100ms`,
		`{store: {directory: /}, downloads: {max_concurrent: 0}}`:                       `downloads::max_concurrent: 64`,
		`{store: {directory: /}, downloads: {max_concurrent: 65}}`:                      `downloads::max_concurrent: 65 64`,
		`{store: {directory: /}, downloads: {max_file_bytes: 0}}`:                       `downloads::max_file_bytes:`,
		`{store: {directory: /}, downloads: {max_total_size: 1}}`:                       `downloads::max_total_size: downloads::max_file_bytes 268435456`,
		`{store: {directory: /}, hold: {timeout: 5ms}}`:                                 `hold::timeout: 5ms 100ms 30s`,
		`{store: {directory: /}, hold: {max_bytes: 0}}`:                                 `hold::max_bytes:`,
		`store: {dir: /}`: `store::dir directory`,
	} {
		_, err := load(t, text)
		metadatatest.ErrorHas(t, err, want, text)
	}
}

func TestREADMEConfigs(t *testing.T) { metadatatest.CheckREADME(t, "processors", NewFactory()) }
