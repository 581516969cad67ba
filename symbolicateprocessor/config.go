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
)

// Config is the configuration of the processor.
type Config struct {
	// Store configures the directory of symbol files.
	Store StoreConfig `mapstructure:"store"`

	// Uploads configures the endpoint for sentry-cli.
	Uploads UploadsConfig `mapstructure:"uploads"`
}

// UploadsConfig configures the endpoint to which sentry-cli uploads symbol files. They are stored in the folder uploads of the directory.
type UploadsConfig struct {
	// Endpoint is the address of the endpoint. If it is empty, there is no endpoint.
	Endpoint string `mapstructure:"endpoint"`

	// Token is the token that clients must send (sentry-cli --auth-token).
	Token configopaque.String `mapstructure:"token"`

	// TLS configures HTTPS.
	TLS configoptional.Optional[configtls.ServerConfig] `mapstructure:"tls"`

	// MaxTotalSize is the maximum total size of the stored uploads. At the limit, the oldest files of the largest kind (chunks, files, bundles) are removed.
	MaxTotalSize int64 `mapstructure:"max_total_size"`
}

// StoreConfig configures a directory of symbol files.
type StoreConfig struct {
	// Directory contains symbol files, at any depth.
	Directory string `mapstructure:"directory"`

	// ScanInterval is how often the directory is searched for new files.
	ScanInterval time.Duration `mapstructure:"scan_interval"`

	// MaxFiles is the maximum number of files and folders to read.
	MaxFiles int `mapstructure:"max_files"`

	// MaxFileBytes is the maximum size of a source map, script or ProGuard mapping: opening one needs several times its size in memory.
	MaxFileBytes int64 `mapstructure:"max_file_bytes"`

	// MaxNativeBytes is the maximum size of a native file.
	MaxNativeBytes int64 `mapstructure:"max_native_bytes"`

	// IndexDirectory is the directory for the indexes of native files. The default is the folder .index in Directory.
	IndexDirectory string `mapstructure:"index_directory"`

	// MaxIndexBytes is the maximum total size of the indexes of native files; at the limit, the least recently used are removed.
	MaxIndexBytes int64 `mapstructure:"max_index_bytes"`

	// MaxOpenBytes is the maximum memory for open files; at the limit, the least recently used are closed.
	MaxOpenBytes int64 `mapstructure:"max_open_bytes"`
}

// indexes returns the directory of indexes.
func (s *StoreConfig) indexes() string {
	return cmp.Or(s.IndexDirectory, filepath.Join(s.Directory, indexFolder))
}

var _ confmap.Validator = (*Config)(nil)

const (
	// defaultScanInterval is short enough: deployments upload their symbol files before users send profiles.
	defaultScanInterval = 30 * time.Second

	// minScanInterval rejects numbers without a unit, which are parsed as nanoseconds.
	minScanInterval = 100 * time.Millisecond

	// defaultMaxFiles limits the memory for the list of files to about 20 MB.
	defaultMaxFiles = 50_000

	// defaultMaxFileBytes: the largest source maps in use are about 50 MB.
	defaultMaxFileBytes = 128 << 20

	// defaultMaxNativeBytes: the symbol files of the largest apps are a few gigabytes. They are mapped into memory, not read.
	defaultMaxNativeBytes = 4 << 30

	// defaultMaxIndexBytes: an index is a quarter of the size of its file, or half if the file is compressed.
	defaultMaxIndexBytes = 4 << 30

	// defaultMaxTotalSize is enough for about ten builds of a large app.
	defaultMaxTotalSize = 10 << 30

	// minMaxTotalSize is enough for one request.
	minMaxTotalSize = 100 << 20

	// defaultMaxOpenBytes: an open source map needs at most half of its file size.
	defaultMaxOpenBytes = 256 << 20
)

func createDefaultConfig() component.Config {
	return &Config{Store: StoreConfig{
		ScanInterval: defaultScanInterval, MaxFiles: defaultMaxFiles, MaxFileBytes: defaultMaxFileBytes, MaxOpenBytes: defaultMaxOpenBytes,
		MaxNativeBytes: defaultMaxNativeBytes, MaxIndexBytes: defaultMaxIndexBytes,
	}, Uploads: UploadsConfig{MaxTotalSize: defaultMaxTotalSize}}
}

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
	if s.ScanInterval < minScanInterval {
		problem("store::scan_interval: is %s, must be at least %s, with a unit, e.g. %s", s.ScanInterval, minScanInterval, defaultScanInterval)
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
	if u.MaxTotalSize < minMaxTotalSize {
		problem("uploads::max_total_size: is %d, must be at least %d, e.g. %d", u.MaxTotalSize, minMaxTotalSize, int64(defaultMaxTotalSize))
	}
	return errors.Join(problems...)
}
