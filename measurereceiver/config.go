// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/measure"
)

// Config is the configuration of the receiver. The settings of the HTTP server stand beside its own keys.
type Config struct {
	// HTTP is a named field, not an embedded one, which would promote the methods of ServerConfig.
	HTTP confighttp.ServerConfig `mapstructure:",squash"`

	// Apps are those that may send, by their keys.
	Apps []AppConfig `mapstructure:"apps"`

	// AllowAnyKey takes what comes with any key, or with none that is listed: for one's own network.
	AllowAnyKey bool `mapstructure:"allow_any_key"`

	// Validation says what happens to items that break a rule: "lenient" drops the item, "strict" refuses its batch as
	// Measure does.
	Validation measure.Validation `mapstructure:"validation"`

	// MaxBytesInFlight bounds the bodies of all requests together, decoded and encoded, and what is made of them. Uploads of files
	// are not among them.
	MaxBytesInFlight int64 `mapstructure:"max_bytes_in_flight"`

	// Connections bounds what clients may hold of the server, whoever they are.
	Connections httpserver.Limits `mapstructure:"connections"`

	// PublicEndpoint is the URL by which apps reach the receiver, for the addresses that they upload files to. Without it,
	// that is where the request came to.
	PublicEndpoint string `mapstructure:"public_endpoint"`

	// UserAttributePrefix stands in front of the attributes that the app has set itself.
	UserAttributePrefix string `mapstructure:"user_attribute_prefix"`

	// IncludeHTTPBodies passes on the bodies of requests that apps report, up to 4 KiB each.
	IncludeHTTPBodies bool `mapstructure:"include_http_bodies"`

	// IncludeClientAddress sets client.address to the peer of the connection.
	IncludeClientAddress bool `mapstructure:"include_client_address"`

	// MetricsSessionID sets session.id on data points: a series per session.
	MetricsSessionID bool `mapstructure:"metrics_session_id"`

	// Dedup recognizes batches that SDKs send again.
	Dedup dedup.Config `mapstructure:"dedup"`

	Attachments AttachmentsConfig `mapstructure:"attachments"`
	Builds      BuildsConfig      `mapstructure:"builds"`
}

// AppConfig is one app.
type AppConfig struct {
	APIKey      configopaque.String `mapstructure:"api_key"`
	ServiceName string              `mapstructure:"service_name"` // "" = package or bundle id of each event
	Environment string              `mapstructure:"environment"`
	SDK         measure.SDKConfig   `mapstructure:"config"` // what GET /config answers
}

// Unmarshal sets the defaults of an element of a list.
func (a *AppConfig) Unmarshal(conf *confmap.Conf) error {
	a.SDK = measure.DefaultSDKConfig()
	return conf.Unmarshal(a)
}

// AttachmentsConfig is about the files of events.
type AttachmentsConfig struct {
	Directory    string              `mapstructure:"directory"` // "" = files are dropped
	MaxTotalSize int64               `mapstructure:"max_total_size"`
	MaxSize      map[string]int64    `mapstructure:"max_size"` // by type; 0 refuses the type
	URLTTL       time.Duration       `mapstructure:"url_ttl"`
	TokenSecret  configopaque.String `mapstructure:"token_secret"` // "" = a new one with every start
	MaxInFlight  int                 `mapstructure:"max_in_flight"`
}

// BuildsConfig is about mapping files of builds.
type BuildsConfig struct {
	Enabled      bool                  `mapstructure:"enabled"`
	Directory    string                `mapstructure:"directory"`
	MaxSize      int64                 `mapstructure:"max_size"`
	MaxTotalSize int64                 `mapstructure:"max_total_size"`
	APIKeys      []configopaque.String `mapstructure:"api_keys"` // that may replace uploads; without any, those of apps may only add
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	// defaultEndpoint: one beyond the sentry receiver's, on the local host only, as the collector's other receivers.
	defaultEndpoint = "localhost:4320"

	// defaultMaxRequestBodySize is what Measure's document says. The backend takes 10 MiB of events and spans, and files of
	// older SDKs beside them.
	defaultMaxRequestBodySize = 20 << 20

	// defaultMaxBytesInFlight is that of one batch of the largest size, or of hundreds as SDKs send them: what is made of one counts too.
	defaultMaxBytesInFlight = 128 << 20

	// defaultReadTimeout: a phone on a bad network needs a minute for a megabyte, and an upload may have 32.
	defaultReadTimeout = 5 * time.Minute

	// SDKs send a batch again when the app starts the next time, which may be days later.
	defaultDedupIDs = 10_000
	defaultDedupAge = 7 * 24 * time.Hour

	defaultURLTTL           = 7 * 24 * time.Hour // Measure's
	defaultMaxTotalSize     = 10 << 30
	defaultMaxInFlight      = 64
	defaultMaxMappingSize   = 512 << 20 // debug symbols of a large app
	defaultMaxMappingsTotal = 50 << 30
)

// defaultMaxSizes: the largest recorded screenshot has 723 KB, layout snapshots 10 KB. Heap dumps have hundreds of megabytes
// and whatever the app had in memory.
var defaultMaxSizes = map[measure.FileType]int64{
	measure.FileScreenshot:       2 << 20,
	measure.FileLayoutSnapshot:   2 << 20,
	measure.FileLayoutSnapshotJS: 2 << 20,
	measure.FileMethodTrace:      20 << 20,
	measure.FilePerfettoTrace:    32 << 20,
	measure.FileHeapProfile:      32 << 20,
	measure.FileHeapDump:         0,
}

func createDefaultConfig() component.Config {
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = defaultEndpoint
	server.MaxRequestBodySize = defaultMaxRequestBodySize
	server.ReadTimeout = defaultReadTimeout
	server.CompressionAlgorithms = slices.Clone(httpbody.Defaults)
	sizes := map[string]int64{}
	for fileType, size := range defaultMaxSizes {
		sizes[string(fileType)] = size
	}
	return &Config{
		HTTP:       server,
		Validation: measure.Lenient,

		MaxBytesInFlight: defaultMaxBytesInFlight,
		Connections:      httpserver.DefaultLimits(),

		Dedup:       dedup.Config{MaxIDs: defaultDedupIDs, MaxAge: defaultDedupAge},
		Attachments: AttachmentsConfig{MaxTotalSize: defaultMaxTotalSize, MaxSize: sizes, URLTTL: defaultURLTTL, MaxInFlight: defaultMaxInFlight},
		Builds:      BuildsConfig{MaxSize: defaultMaxMappingSize, MaxTotalSize: defaultMaxMappingsTotal},
	}
}

// Unmarshal reads the configuration, and fails for keys that do not exist.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	return collector.UnmarshalConfig(conf, c,
		collector.RenamedKey{Old: "dedup::size", New: "dedup::max_ids"}, collector.RenamedKey{Old: "dedup::ttl", New: "dedup::max_age"})
}

// Validate checks the configuration; its messages name the key and what to write instead.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if c.HTTP.NetAddr.Endpoint == "" {
		problem("endpoint: must not be empty, give host:port, e.g. %s", defaultEndpoint)
	}
	problems = append(problems, httpbody.Validate(&c.HTTP, c.MaxBytesInFlight, defaultMaxRequestBodySize)...)
	if c.Validation != measure.Lenient && c.Validation != measure.Strict {
		problem("validation: is %q, must be %q or %q", c.Validation, measure.Lenient, measure.Strict)
	}
	if u, err := url.Parse(c.PublicEndpoint); c.PublicEndpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "") {
		problem("public_endpoint: is %q, must be a URL, e.g. https://rum.example.com", c.PublicEndpoint)
	}
	problems = append(problems, c.validateApps(), c.validateFiles())
	return errors.Join(problems...)
}

func (c *Config) validateApps() error {
	var problems []error
	if len(c.Apps) == 0 && !c.AllowAnyKey {
		problems = append(problems, errors.New("apps: must not be empty, give an api_key, or set allow_any_key on a network of your own"))
	}
	keys := map[configopaque.String]bool{}
	for i := range c.Apps {
		app := &c.Apps[i]
		switch {
		case app.APIKey == "":
			problems = append(problems, fmt.Errorf("apps: %d: api_key: must not be empty", i))
		case keys[app.APIKey]:
			problems = append(problems, fmt.Errorf("apps: %d: api_key: is that of another app", i))
		}
		keys[app.APIKey] = true
		if err := app.SDK.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("apps: %d: config: %w", i, err))
		}
	}
	return errors.Join(problems...)
}

func (c *Config) validateFiles() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for name, size := range c.Attachments.MaxSize {
		if !slices.Contains(measure.AttachmentTypes(), measure.FileType(name)) {
			problem("attachments: max_size: %q is no type, must be among %q", name, measure.AttachmentTypes())
		} else if size < 0 {
			problem("attachments: max_size: %s: is %d, must not be negative", name, size)
		}
	}
	if c.Attachments.MaxTotalSize <= 0 {
		problem("attachments: max_total_size: is %d, must be greater than 0", c.Attachments.MaxTotalSize)
	}
	if ttl := c.Attachments.URLTTL; ttl < time.Minute || ttl > 90*24*time.Hour {
		problem("attachments: url_ttl: is %s, must be from 1m to 2160h, e.g. %s", ttl, defaultURLTTL)
	}
	if c.Attachments.MaxInFlight < 1 {
		problem("attachments: max_in_flight: is %d, must be at least 1, e.g. %d", c.Attachments.MaxInFlight, defaultMaxInFlight)
	}
	if c.Builds.Enabled && c.Builds.Directory == "" {
		problem("builds: directory: must not be empty when builds are enabled")
	}
	if c.Builds.MaxSize <= 0 || c.Builds.MaxTotalSize < c.Builds.MaxSize {
		problem("builds: max_size and max_total_size: are %d and %d, must be greater than 0, and the second not smaller", c.Builds.MaxSize, c.Builds.MaxTotalSize)
	}
	return errors.Join(problems...)
}
