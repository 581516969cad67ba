// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"errors"
	"fmt"
	"slices"
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
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Config is the configuration of the exporter. The settings of the HTTP client stand beside its own
// keys.
type Config struct {
	// DSN says where to send, and for which project: https://<key>@<host>/<project>. Several
	// exporters behind filters serve several projects.
	DSN configopaque.String `mapstructure:"dsn"`

	// SpansAs says what spans are sent as: "transactions", which every Sentry takes, or "spans",
	// containers of version 2.
	SpansAs string `mapstructure:"spans_as"`

	// ProfilerIDAttributes are the resource attributes that together identify one process. The id
	// of its profiler session is derived from them where the data name none. Where they identify
	// only a service, attributes of the process are added.
	ProfilerIDAttributes []string `mapstructure:"profiler_id_attributes"`

	// MaxAttempts is how often an envelope is posted that Sentry fails to accept, with a server
	// error or none at all, while it accepts others.
	MaxAttempts int `mapstructure:"max_attempts"`

	// ReportLosses tells Sentry, in client reports, what was dropped because Sentry refused it.
	ReportLosses bool `mapstructure:"report_losses"`

	// HTTP is a named field, not an embedded one, which would promote the methods of ClientConfig.
	// Its endpoint is unused.
	HTTP confighttp.ClientConfig `mapstructure:",squash"`

	Queue configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	Retry configretry.BackOffConfig                                `mapstructure:"retry_on_failure"`

	// destination is shared by the exporters of both signals, which the collector gives the same
	// *Config.
	destination *destination
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	spansAsTransactions = "transactions"
	spansAsContainers   = "spans"

	// defaultTimeout of one request: a chunk of 50 MB takes eight seconds over 50 Mbit/s,
	// uncompressed.
	defaultTimeout = 30 * time.Second

	// defaultQueueBytes of each category: chunks have up to maxItemBytes, so that a number of
	// requests would bound nothing. The JSON of a chunk of one minute has half a megabyte to five.
	defaultQueueBytes = 128 << 20

	// minQueueBytes and queuedItems keep each envelope far below the size of its queue, so that
	// none blocks it.
	minQueueBytes = 1 << 20
	queuedItems   = 8

	// maxItemBytes bounds an envelope, and so the memory of requests that wait in a stored queue.
	// Recorded chunks have up to five megabytes, but for one of 34, which is split.
	maxItemBytes = 8 << 20

	// defaultMaxAttempts take some three minutes with the default pauses.
	defaultMaxAttempts = 10
)

// compressions are those of confighttp that every Relay, or every current one, reads.
var compressions = []configcompression.Type{configcompression.TypeGzip, configcompression.TypeZstd, "none"}

func createDefaultConfig() component.Config {
	client := confighttp.NewDefaultClientConfig()
	client.Timeout = defaultTimeout
	client.Compression = configcompression.TypeGzip // what every Relay takes

	queue := exporterhelper.NewDefaultQueueConfig()
	queue.Sizer = exporterhelper.RequestSizerTypeBytes
	queue.QueueSize = defaultQueueBytes
	queue.Batch = configoptional.Default(exporterhelper.NewDefaultBatchConfig()) // none, whatever the collector's feature gates say

	// A quota is often used up for an hour or a day. What waits for it is bounded by the queue, not
	// by time.
	retry := configretry.NewDefaultBackOffConfig()
	retry.MaxElapsedTime = 0

	return &Config{
		SpansAs:              spansAsTransactions,
		ProfilerIDAttributes: slices.Clone(attr.DefaultProfilerIDAttributes),
		MaxAttempts:          defaultMaxAttempts,
		HTTP:                 client,
		Queue:                configoptional.Some(queue),
		Retry:                retry,
		destination:          &destination{},
	}
}

// Unmarshal reads the configuration, and fails for keys that do not exist.
func (c *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, c) }

// Validate checks the configuration; its messages name the key and what to write instead.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if c.DSN == "" {
		problem("dsn: must not be empty (is its environment variable set?), copy it from Sentry's project settings: Client Keys (DSN)")
	} else if _, err := sentry.ParseDSN(string(c.DSN)); err != nil {
		problem("dsn: %w; expected https://<key>@<host>/<project number>", err)
	}
	if c.HTTP.Endpoint != "" {
		problem("endpoint: must be left out, the dsn says where to send")
	}
	if !slices.Contains(compressions, c.HTTP.Compression) {
		problem("compression: is %q, which Sentry does not read, must be one of %q", c.HTTP.Compression, compressions)
	}
	if c.Queue.HasValue() && c.Queue.Get().Batch.HasValue() {
		problem("sending_queue::batch: must be left out, Sentry takes each envelope by itself")
	}
	if size := c.queueBytes(); size > 0 && size < minQueueBytes {
		problem("sending_queue::queue_size: is %d bytes, less than some envelopes have, must be at least %d", size, minQueueBytes)
	}
	if c.MaxAttempts < 1 {
		problem("max_attempts: is %d, must be at least 1", c.MaxAttempts)
	}
	if c.SpansAs != spansAsTransactions && c.SpansAs != spansAsContainers {
		problem("spans_as: is %q, must be %q or %q", c.SpansAs, spansAsTransactions, spansAsContainers)
	}
	if len(c.ProfilerIDAttributes) == 0 || slices.Contains(c.ProfilerIDAttributes, "") {
		problem("profiler_id_attributes: must name at least one resource attribute, and none that is empty, e.g. %q", attr.DefaultProfilerIDAttributes)
	}
	return errors.Join(problems...)
}

// queueBytes is the size of each queue in bytes, 0 if it is not in bytes or there is none.
func (c *Config) queueBytes() int64 {
	if !c.Queue.HasValue() || c.Queue.Get().Sizer != exporterhelper.RequestSizerTypeBytes {
		return 0
	}
	return c.Queue.Get().QueueSize
}

// maxItemBytes is how large the payload of an envelope may be.
func (c *Config) maxItemBytes() int {
	if size := c.queueBytes(); size > 0 {
		return int(min(size/queuedItems, maxItemBytes))
	}
	return maxItemBytes
}
