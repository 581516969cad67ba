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
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// Config is the configuration of the receiver. It contains the settings of the HTTP server.
type Config struct {
	// HTTP is a named field: an embedded one would promote the methods of ServerConfig.
	HTTP confighttp.ServerConfig `mapstructure:",squash"`

	// Apps are the accepted apps.
	Apps []AppConfig `mapstructure:"apps"`

	// AllowAnyKey accepts any key, for private networks.
	AllowAnyKey bool `mapstructure:"allow_any_key"`

	// Validation selects the handling of items that break a rule: "lenient" drops the item,
	// "strict" rejects its batch, like Measure.
	Validation measure.Validation `mapstructure:"validation"`

	// MaxBytesInFlight limits the memory of all requests together: encoded bodies, decoded bodies
	// and translations. File uploads do not count.
	MaxBytesInFlight int64 `mapstructure:"max_bytes_in_flight"`

	// Connections limits the server resources that clients can use.
	Connections httpserver.Limits `mapstructure:"connections"`

	// PublicEndpoint is the public URL of the receiver, used in upload URLs. "" means the host of
	// the request.
	PublicEndpoint string `mapstructure:"public_endpoint"`

	// UserAttributePrefix is the prefix of the attributes that the app sets.
	UserAttributePrefix string `mapstructure:"user_attribute_prefix"`

	// IncludeHTTPBodies includes the bodies of the HTTP requests that apps report, up to 4 KiB
	// each.
	IncludeHTTPBodies bool `mapstructure:"include_http_bodies"`

	// IncludeClientAddress sets client.address to the peer of the connection.
	IncludeClientAddress bool `mapstructure:"include_client_address"`

	// Scrubbing removes passwords, tokens, card numbers and similar data from all signals, as
	// Sentry's servers do by default.
	Scrubbing scrub.Config `mapstructure:"scrubbing"`

	// MetricsSessionID sets session.id on data points, which creates a series per session.
	MetricsSessionID bool `mapstructure:"metrics_session_id"`

	// Dedup recognizes batches that SDKs resend.
	Dedup dedup.Config `mapstructure:"dedup"`

	Attachments AttachmentsConfig `mapstructure:"attachments"`
	Builds      BuildsConfig      `mapstructure:"builds"`
}

// AppConfig is one app.
type AppConfig struct {
	APIKey      configopaque.String `mapstructure:"api_key"`
	ServiceName string              `mapstructure:"service_name"` // "": package or bundle ID of each event
	Environment string              `mapstructure:"environment"`
	SDK         measure.SDKConfig   `mapstructure:"config"` // the response to GET /config
}

// Unmarshal sets the defaults of a list element.
func (a *AppConfig) Unmarshal(conf *confmap.Conf) error {
	a.SDK = measure.DefaultSDKConfig()
	return conf.Unmarshal(a)
}

// AttachmentsConfig configures the files of events.
type AttachmentsConfig struct {
	Directory    string              `mapstructure:"directory"` // "": files are dropped
	MaxTotalSize int64               `mapstructure:"max_total_size"`
	MaxSize      map[string]int64    `mapstructure:"max_size"` // by type; 0 rejects the type
	URLTTL       time.Duration       `mapstructure:"url_ttl"`
	TokenSecret  configopaque.String `mapstructure:"token_secret"` // "": a new one at every start
	MaxInFlight  int                 `mapstructure:"max_in_flight"`
}

// BuildsConfig configures the mapping files of builds.
type BuildsConfig struct {
	Enabled      bool                  `mapstructure:"enabled"`
	Directory    string                `mapstructure:"directory"`
	MaxSize      int64                 `mapstructure:"max_size"`
	MaxTotalSize int64                 `mapstructure:"max_total_size"`
	APIKeys      []configopaque.String `mapstructure:"api_keys"` // keys that may replace files; if empty, the keys of apps may add files
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	// defaultEndpoint is reachable only from this host, like the default endpoints of other
	// receivers. 4319 is the port of the sentry receiver.
	defaultEndpoint = "localhost:4320"

	// defaultMaxRequestBodySize is the documented limit of Measure. Its backend accepts 10 MiB of
	// events and spans, plus the files of older SDKs.
	defaultMaxRequestBodySize = 20 << 20

	// defaultMaxBytesInFlight is enough for one batch of the maximum size, or hundreds of usual
	// size, including their translations.
	defaultMaxBytesInFlight = 128 << 20

	// SDKs resend a batch when the app next starts, which may be days later.
	defaultDedupIDs = 10_000
	defaultDedupAge = 7 * 24 * time.Hour

	defaultURLTTL           = 7 * 24 * time.Hour // the same as Measure's
	defaultMaxTotalSize     = 10 << 30
	defaultMaxInFlight      = 64
	defaultMaxMappingSize   = 512 << 20 // debug symbols of a large app
	defaultMaxMappingsTotal = 50 << 30
)

// defaultMaxSizes are the maximum sizes of files by type. The largest recorded screenshot has 723
// KB, layout snapshots 10 KB. Heap dumps have hundreds of megabytes and contain all data in the
// memory of the app.
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
	sizes := map[string]int64{}
	for fileType, size := range defaultMaxSizes {
		sizes[string(fileType)] = size
	}
	return &Config{
		HTTP:       httpbody.DefaultServerConfig(defaultEndpoint, defaultMaxRequestBodySize),
		Validation: measure.Lenient,

		MaxBytesInFlight: defaultMaxBytesInFlight,
		Connections:      httpserver.DefaultLimits(),

		Scrubbing: scrub.DefaultConfig(),

		Dedup:       dedup.Config{MaxIDs: defaultDedupIDs, MaxAge: defaultDedupAge},
		Attachments: AttachmentsConfig{MaxTotalSize: defaultMaxTotalSize, MaxSize: sizes, URLTTL: defaultURLTTL, MaxInFlight: defaultMaxInFlight},
		Builds:      BuildsConfig{MaxSize: defaultMaxMappingSize, MaxTotalSize: defaultMaxMappingsTotal},
	}
}

// Unmarshal reads the configuration. Unknown keys are errors.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	return collector.UnmarshalConfig(conf, c,
		collector.RenamedKey{Old: "dedup::size", New: "dedup::max_ids"}, collector.RenamedKey{Old: "dedup::ttl", New: "dedup::max_age"})
}

// Validate checks the configuration. Its messages name the key and a valid value.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	problems = append(problems, httpbody.Validate(&c.HTTP, c.MaxBytesInFlight, defaultEndpoint, defaultMaxRequestBodySize)...)
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
		problems = append(problems, errors.New("apps: must not be empty, add an api_key, or set allow_any_key on a private network"))
	}
	keys := map[configopaque.String]bool{}
	for i := range c.Apps {
		app := &c.Apps[i]
		switch {
		case app.APIKey == "":
			problems = append(problems, fmt.Errorf("apps: %d: api_key: must not be empty", i))
		case keys[app.APIKey]:
			problems = append(problems, fmt.Errorf("apps: %d: api_key: is the same as in another app", i))
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
			problem("attachments: max_size: %q is not a type, must be one of %q", name, measure.AttachmentTypes())
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
		problem("builds: max_size and max_total_size: are %d and %d, must be positive, and max_total_size must not be smaller", c.Builds.MaxSize, c.Builds.MaxTotalSize)
	}
	return errors.Join(problems...)
}
