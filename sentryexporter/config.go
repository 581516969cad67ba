// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpclient"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Config is the configuration of the exporter. It contains the settings of the HTTP client.
type Config struct {
	// DSN is the address and the project: https://<key>@<host>/<project>. With DSNs, it is the
	// default for data that matches none of them.
	DSN configopaque.String `mapstructure:"dsn"`

	// DSNs select another project for some resources. The first match applies.
	DSNs []RouteConfig `mapstructure:"dsns"`

	// SpansAs is the item type for spans: "transactions", which every Sentry accepts, or "spans",
	// containers of version 2.
	SpansAs string `mapstructure:"spans_as"`

	// Errors configures the events that are created from exceptions.
	Errors ErrorsConfig `mapstructure:"errors"`

	// Logs selects log records.
	Logs LogsConfig `mapstructure:"logs"`

	// Metrics selects metrics, and the number of elements per data point.
	Metrics MetricsConfig `mapstructure:"metrics"`

	// ProfilerIDAttributes are the resource attributes that together identify one process. The ID
	// of its profiler session is derived from them if the data has none. If only a service is
	// identified, attributes of the process are added.
	ProfilerIDAttributes []string `mapstructure:"profiler_id_attributes"`

	// MaxAttempts limits the attempts for an envelope that fails with a server error or without a
	// response while Sentry accepts others.
	MaxAttempts int `mapstructure:"max_attempts"`

	// ReportLosses enables client reports, which tell Sentry about items that it rejected.
	ReportLosses bool `mapstructure:"report_losses"`

	// HTTP is a named field, because embedding would promote the methods of ClientConfig. Its
	// endpoint is unused.
	HTTP confighttp.ClientConfig `mapstructure:",squash"`

	Queue configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	Retry configretry.BackOffConfig                                `mapstructure:"retry_on_failure"`

	// destinations are shared by the exporters of all signals, to which the collector passes the
	// same *Config.
	destinations *destinations
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	spansAsTransactions = "transactions"
	spansAsContainers   = "spans"

	// defaultTimeout is the timeout of one request. At 50 Mbit/s, an uncompressed chunk of 50 MB
	// takes eight seconds.
	defaultTimeout = 30 * time.Second

	// defaultQueueBytes is the queue size of each category. The limit is in bytes, because requests
	// have up to maxItemBytes. The JSON of a one-minute chunk has 0.5 to 5 MB.
	defaultQueueBytes = 128 << 20

	// minQueueBytes and queuedItems keep each envelope much smaller than its queue, so that no
	// envelope blocks it.
	minQueueBytes = 1 << 20
	queuedItems   = 8

	// maxItemBytes bounds an envelope, and thus the memory of the waiting requests of a stored
	// queue. Recorded chunks have up to 5 MB, except for one of 34 MB, which is split.
	maxItemBytes = 8 << 20

	// defaultMaxAttempts correspond to about three minutes with the default intervals.
	defaultMaxAttempts = 10
)

// compressions are the encodings of confighttp that every Relay, or every current Relay, supports;
// see defaultCompression for "".
var compressions = []configcompression.Type{configcompression.TypeGzip, configcompression.TypeZstd, "none"}

func createDefaultConfig() component.Config {
	client := confighttp.NewDefaultClientConfig()
	client.Timeout = defaultTimeout

	queue := exporterhelper.NewDefaultQueueConfig()
	queue.Sizer = exporterhelper.RequestSizerTypeBytes
	queue.QueueSize = defaultQueueBytes
	queue.Batch = configoptional.Default(exporterhelper.NewDefaultBatchConfig()) // no batching, regardless of the collector's feature gates

	// A quota is often exhausted for an hour or a day. The queue bounds waiting envelopes, so there
	// is no time limit.
	retry := configretry.NewDefaultBackOffConfig()
	retry.MaxElapsedTime = 0

	return &Config{
		SpansAs:              spansAsTransactions,
		Errors:               defaultErrors(),
		Logs:                 LogsConfig{MinSeverity: "trace"},
		Metrics:              MetricsConfig{Exemplars: true},
		ProfilerIDAttributes: slices.Clone(attr.DefaultProfilerIDAttributes),
		MaxAttempts:          defaultMaxAttempts,
		HTTP:                 client,
		Queue:                configoptional.Some(queue),
		Retry:                retry,
		destinations:         &destinations{},
	}
}

// defaultCompression returns zstd, which is faster and smaller, for hosted Sentry. Other servers
// may have a Relay from before October 2024, which supports only gzip.
func defaultCompression(dsn sentry.DSN) configcompression.Type {
	address := url.URL{Host: dsn.Host}
	if strings.HasSuffix("."+address.Hostname(), ".sentry.io") {
		return configcompression.TypeZstd
	}
	return configcompression.TypeGzip
}

// Unmarshal reads the configuration and rejects unknown keys.
func (c *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, c) }

// Validate checks the configuration. Its messages name the key and the valid values.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if c.DSN == "" {
		problem("dsn: must not be empty; check the environment variable, or copy the DSN from the project's settings in Sentry, under Client Keys")
	} else if _, err := sentry.ParseDSN(string(c.DSN)); err != nil {
		problem("dsn: %w; expected https://<key>@<host>/<project number>", err)
	}
	if err := c.validateDSNs(); err != nil {
		problems = append(problems, err)
	}
	if c.HTTP.Endpoint != "" {
		problem("endpoint: must not be set, because the dsn contains the address")
	}
	switch {
	case c.HTTP.Compression == "":
		if c.HTTP.CompressionParams.Level != 0 {
			problem("compression_params::level: needs compression: levels differ between encodings")
		}
	case !slices.Contains(compressions, c.HTTP.Compression):
		problem("compression: %q is not supported by Sentry, must be one of %q", c.HTTP.Compression, compressions)
	}
	if c.Queue.HasValue() && c.Queue.Get().Batch.HasValue() {
		problem("sending_queue::batch: must not be set, because each envelope is posted in its own request")
	}
	if size := c.queueBytes(); size > 0 && size < minQueueBytes {
		problem("sending_queue::queue_size: is %d bytes, must be at least %d", size, minQueueBytes)
	}
	if c.MaxAttempts < 1 {
		problem("max_attempts: is %d, must be at least 1", c.MaxAttempts)
	}
	if c.SpansAs != spansAsTransactions && c.SpansAs != spansAsContainers {
		problem("spans_as: is %q, must be %q or %q", c.SpansAs, spansAsTransactions, spansAsContainers)
	}
	if c.HTTP.Timeout < 0 {
		problem("timeout: is %s, must be positive, e.g. %s, or 0s for no limit", c.HTTP.Timeout, defaultTimeout)
	}
	problems = append(problems, httpclient.CheckProxy(&c.HTTP), c.Errors.validate(), c.Logs.validate(), c.Metrics.validate())
	if len(c.ProfilerIDAttributes) == 0 || slices.Contains(c.ProfilerIDAttributes, "") {
		problem("profiler_id_attributes: must have at least one resource attribute and no empty ones, e.g. %q", attr.DefaultProfilerIDAttributes)
	}
	return errors.Join(problems...)
}

// queueBytes returns the size of each queue in bytes, or 0 if there is no queue or its size has
// another unit.
func (c *Config) queueBytes() int64 {
	if !c.Queue.HasValue() || c.Queue.Get().Sizer != exporterhelper.RequestSizerTypeBytes {
		return 0
	}
	return c.Queue.Get().QueueSize
}

// maxItemBytes returns the maximum payload of an envelope.
func (c *Config) maxItemBytes() int {
	if size := c.queueBytes(); size > 0 {
		return int(min(size/queuedItems, maxItemBytes))
	}
	return maxItemBytes
}
