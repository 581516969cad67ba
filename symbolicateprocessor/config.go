// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/downloads"
)

// Config is the configuration of the processor.
type Config struct {
	// Store configures the directory of symbol files.
	Store StoreConfig `mapstructure:"store"`

	// Uploads configures the endpoint for sentry-cli.
	Uploads UploadsConfig `mapstructure:"uploads"`

	// Downloads configures the servers from which missing symbol files are downloaded.
	Downloads DownloadsConfig `mapstructure:"downloads"`

	// Hold configures how long messages wait for their files.
	Hold HoldConfig `mapstructure:"hold"`
}

// HoldConfig configures the hold of messages whose files are being opened or downloaded. They are
// held in memory, in each pipeline, and are forwarded without names when a limit is reached.
type HoldConfig struct {
	// Timeout is the maximum time. If it is 0, no message is held.
	Timeout time.Duration `mapstructure:"timeout"`

	// MaxBytes is the maximum total size of held messages when encoded. In memory, they need
	// several times as much.
	MaxBytes int64 `mapstructure:"max_bytes"`
}

// DownloadsConfig configures downloads of missing symbol files. They are stored in the folder
// downloads of the directory.
type DownloadsConfig struct {
	// SourceMapHosts are the hosts of scripts and source maps: cdn.example.com, *.example.com for
	// all subdomains, or localhost:8443. If the list is empty, no source maps are downloaded.
	SourceMapHosts []string `mapstructure:"source_map_hosts"`

	// DebuginfodURLs are debuginfod servers for native files. They are asked in this order. If the
	// list is empty, no native files are downloaded.
	DebuginfodURLs []string `mapstructure:"debuginfod_urls"`

	// AllowHTTP allows http URLs. By default, only https is allowed.
	AllowHTTP bool `mapstructure:"allow_http"`

	// Timeout is the maximum time for a file.
	Timeout time.Duration `mapstructure:"timeout"`

	// MaxConcurrent is the maximum number of files to download at the same time.
	MaxConcurrent int `mapstructure:"max_concurrent"`

	// MaxFileBytes is the maximum size of a file after decompression. The limits of StoreConfig
	// apply, too.
	MaxFileBytes int64 `mapstructure:"max_file_bytes"`

	// MaxTotalSize is the maximum total size of downloaded files. At the limit, the oldest files of
	// the larger kind (scripts, debug information) are removed.
	MaxTotalSize int64 `mapstructure:"max_total_size"`

	// RetryAfter is the time until a file is downloaded again that a server does not have or that
	// could not be downloaded.
	RetryAfter time.Duration `mapstructure:"retry_after"`
}

// enabled reports whether there is a server.
func (d *DownloadsConfig) enabled() bool { return len(d.SourceMapHosts)+len(d.DebuginfodURLs) > 0 }

// UploadsConfig configures the endpoint to which sentry-cli uploads symbol files. They are stored
// in the folder uploads of the directory.
type UploadsConfig struct {
	// Endpoint is the address of the endpoint. If it is empty, there is no endpoint.
	Endpoint string `mapstructure:"endpoint"`

	// Token is the token that clients must send (sentry-cli --auth-token).
	Token configopaque.String `mapstructure:"token"`

	// TLS configures HTTPS.
	TLS configoptional.Optional[configtls.ServerConfig] `mapstructure:"tls"`

	// MaxTotalSize is the maximum total size of the stored uploads. At the limit, the oldest files
	// of the largest kind (chunks, files, bundles) are removed.
	MaxTotalSize int64 `mapstructure:"max_total_size"`
}

// StoreConfig configures a directory of symbol files.
type StoreConfig struct {
	// Directory contains symbol files, at any depth.
	Directory string `mapstructure:"directory"`

	// ScanInterval is how often the directory is searched for new files.
	ScanInterval time.Duration `mapstructure:"scan_interval"`

	// MaxFiles is the maximum number of files to read. Uploads may have half as many, and downloads
	// a quarter.
	MaxFiles int `mapstructure:"max_files"`

	// MaxFileBytes is the maximum size of a source map, script or ProGuard mapping: opening one
	// needs several times its size in memory.
	MaxFileBytes int64 `mapstructure:"max_file_bytes"`

	// MaxNativeBytes is the maximum size of a native file.
	MaxNativeBytes int64 `mapstructure:"max_native_bytes"`

	// IndexDirectory is the directory for the indexes of native files. The default is the folder
	// .index in Directory.
	IndexDirectory string `mapstructure:"index_directory"`

	// MaxIndexBytes is the maximum total size of the indexes of native files; at the limit, the
	// least recently used are removed.
	MaxIndexBytes int64 `mapstructure:"max_index_bytes"`

	// MaxOpenBytes is the maximum memory for open files; at the limit, the least recently used are
	// closed.
	MaxOpenBytes int64 `mapstructure:"max_open_bytes"`
}

// indexes returns the directory of indexes.
func (s *StoreConfig) indexes() string {
	return cmp.Or(s.IndexDirectory, filepath.Join(s.Directory, indexFolder))
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	// defaultScanInterval is short enough: deployments upload their symbol files before users send
	// profiles.
	defaultScanInterval = 30 * time.Second

	// defaultMaxFiles limits the memory for the list of files to about 20 MB.
	defaultMaxFiles = 50_000

	// defaultMaxFileBytes: the largest source maps in use are about 50 MB.
	defaultMaxFileBytes = 128 << 20

	// defaultMaxNativeBytes: the symbol files of the largest apps are a few gigabytes. They are
	// mapped into memory, not read.
	defaultMaxNativeBytes = 4 << 30

	// defaultMaxIndexBytes: an index is a quarter of the size of its file, or half if the file is
	// compressed.
	defaultMaxIndexBytes = 4 << 30

	// defaultMaxTotalSize is enough for about ten builds of a large app.
	defaultMaxTotalSize = 10 << 30

	// defaultTimeout is enough for the largest file at 9 MB per second.
	defaultTimeout = 30 * time.Second

	// minDuration rejects numbers without a unit, which are parsed as nanoseconds.
	minDuration = 100 * time.Millisecond

	// defaultMaxConcurrent is low, because servers of web applications are not ours alone.
	defaultMaxConcurrent = 4

	// maxMaxConcurrent limits the memory for responses.
	maxMaxConcurrent = 64

	// defaultMaxDownloadBytes: debug information of most programs is smaller.
	defaultMaxDownloadBytes = 256 << 20

	// defaultRetryAfter: files of a new version are on the server within minutes.
	defaultRetryAfter = 5 * time.Minute

	// minMaxTotalSize is enough for one request.
	minMaxTotalSize = 100 << 20

	// defaultHold is the default of downloads::timeout, and enough to index a large program.
	// Messages wait only until their files are open. Without a hold, the first messages of each
	// build would never have names.
	defaultHold = 30 * time.Second

	// defaultMaxHeldBytes: in memory, held messages need about five times as much.
	defaultMaxHeldBytes = 16 << 20

	// defaultMaxOpenBytes: an open source map of 50 MB needs about 30 MB. The heap grows to twice
	// the memory of open files.
	defaultMaxOpenBytes = 64 << 20
)

func createDefaultConfig() component.Config {
	return &Config{Store: StoreConfig{
		ScanInterval: defaultScanInterval, MaxFiles: defaultMaxFiles, MaxFileBytes: defaultMaxFileBytes, MaxOpenBytes: defaultMaxOpenBytes,
		MaxNativeBytes: defaultMaxNativeBytes, MaxIndexBytes: defaultMaxIndexBytes,
	}, Uploads: UploadsConfig{MaxTotalSize: defaultMaxTotalSize}, Downloads: DownloadsConfig{
		Timeout: defaultTimeout, MaxConcurrent: defaultMaxConcurrent, MaxFileBytes: defaultMaxDownloadBytes, MaxTotalSize: defaultMaxTotalSize,
		RetryAfter: defaultRetryAfter,
	}, Hold: HoldConfig{Timeout: defaultHold, MaxBytes: defaultMaxHeldBytes}}
}

// Unmarshal reads the configuration and rejects unknown keys.
func (c *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, c) }

// Validate checks the configuration. Its errors name the key and the fix.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	s := &c.Store
	if s.Directory == "" {
		problem("store::directory: is empty, must be a directory with symbol files, e.g. /var/lib/otelcol-sentry/symbols")
	} else if info, err := os.Stat(s.Directory); err == nil && !info.IsDir() {
		problem("store::directory: %s is a file, must be a directory", s.Directory)
	}
	if s.ScanInterval < minDuration {
		problem("store::scan_interval: is %s, must be at least %s, with a unit, e.g. %s", s.ScanInterval, minDuration, defaultScanInterval)
	}
	for _, limit := range []struct {
		key       string
		is, usual int64
	}{
		{"max_files", int64(s.MaxFiles), defaultMaxFiles},
		{"max_file_bytes", s.MaxFileBytes, defaultMaxFileBytes},
		{"max_native_bytes", s.MaxNativeBytes, defaultMaxNativeBytes},
		{"max_index_bytes", s.MaxIndexBytes, defaultMaxIndexBytes},
		{"max_open_bytes", s.MaxOpenBytes, defaultMaxOpenBytes},
	} {
		if limit.is <= 0 {
			problem("store::%s: is %d, must be at least 1, e.g. %d", limit.key, limit.is, limit.usual)
		}
	}
	u := &c.Uploads
	switch {
	case u.Endpoint != "" && u.Token == "":
		problem("uploads::token: is empty, must be set with uploads::endpoint: uploaded files determine the names in profiles")
	case u.Endpoint == "" && (u.Token != "" || u.TLS.HasValue()):
		problem("uploads::endpoint: is empty, must be set with uploads::token and uploads::tls, e.g. localhost:4320")
	}
	if u.Endpoint != "" {
		if err := httpserver.CheckAddress(u.Endpoint, "localhost:4320"); err != nil {
			problem("uploads::endpoint: %w", err)
		}
	}
	if u.MaxTotalSize < minMaxTotalSize {
		problem("uploads::max_total_size: is %d, must be at least %d, e.g. %d", u.MaxTotalSize, minMaxTotalSize, int64(defaultMaxTotalSize))
	}
	c.Downloads.validate(problem)
	if h := c.Hold; h.Timeout != 0 && h.Timeout < minDuration {
		problem("hold::timeout: is %s, must be 0 (off) or at least %s, with a unit, e.g. %s", h.Timeout, minDuration, defaultHold)
	} else if h.MaxBytes <= 0 {
		problem("hold::max_bytes: is %d, must be at least 1, e.g. %d", h.MaxBytes, int64(defaultMaxHeldBytes))
	}
	return errors.Join(problems...)
}

func (d *DownloadsConfig) validate(problem func(format string, args ...any)) {
	for _, host := range d.SourceMapHosts {
		if err := downloads.CheckHost(host); err != nil {
			problem("downloads::source_map_hosts: %q %w", host, err)
		}
	}
	for _, server := range d.DebuginfodURLs {
		if err := downloads.CheckServer(server, d.AllowHTTP); err != nil {
			problem("downloads::debuginfod_urls: %q %w", server, err)
		}
	}
	for _, limit := range []struct {
		key       string
		is, usual time.Duration
	}{{"timeout", d.Timeout, defaultTimeout}, {"retry_after", d.RetryAfter, defaultRetryAfter}} {
		if limit.is < minDuration {
			problem("downloads::%s: is %s, must be at least %s, with a unit, e.g. %s", limit.key, limit.is, minDuration, limit.usual)
		}
	}
	if d.MaxConcurrent < 1 || d.MaxConcurrent > maxMaxConcurrent {
		problem("downloads::max_concurrent: is %d, must be 1 to %d, e.g. %d", d.MaxConcurrent, maxMaxConcurrent, defaultMaxConcurrent)
	}
	if d.MaxFileBytes <= 0 {
		problem("downloads::max_file_bytes: is %d, must be at least 1, e.g. %d", d.MaxFileBytes, defaultMaxDownloadBytes)
	}
	if d.MaxTotalSize < d.MaxFileBytes {
		problem("downloads::max_total_size: is %d, must be at least downloads::max_file_bytes (%d), e.g. %d", d.MaxTotalSize, d.MaxFileBytes, int64(defaultMaxTotalSize))
	}
}
