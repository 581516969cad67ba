// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpclient"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// Config is the configuration of the extension. The settings of the HTTP client are on the same
// level as its own keys.
type Config struct {
	// Upstream is the address of Sentry: a DSN without key and project. A path is a prefix, as in a
	// DSN.
	Upstream string `mapstructure:"upstream"`

	// Projects maps the receiver's projects to DSNs at Sentry. Requests for all other projects go
	// to Upstream with their own keys.
	Projects []ProjectConfig `mapstructure:"projects"`

	// ManagementAPI forwards /api/0/ to Upstream with the tokens of the clients, for sentry-cli.
	ManagementAPI bool `mapstructure:"management_api"`

	// Answer is the source of the response to SDKs. With "own", the receiver responds at once. With
	// "upstream", SDKs receive Sentry's response, or that of the receiver after AnswerTimeout.
	Answer string `mapstructure:"answer"`

	// AnswerTimeout is how long a client waits for Sentry's response. Requests that only Sentry can
	// respond to wait for HTTP.Timeout.
	AnswerTimeout time.Duration `mapstructure:"answer_timeout"`

	// OnLimit controls whether SDKs receive Sentry's rate limits: "absorb" hides them, "pass_on"
	// reports them. If empty, it is "pass_on" with Answer "upstream", else "absorb".
	OnLimit string `mapstructure:"on_limit"`

	// Forward is the fraction of the items of each type that is forwarded to Sentry. The default is
	// 1, all items.
	Forward map[string]float64 `mapstructure:"forward"`

	// NumConsumers is the number of requests that are forwarded concurrently.
	NumConsumers int `mapstructure:"num_consumers"`

	// MaxBytesInFlight limits the total memory of requests that are being received or forwarded, or
	// wait without storage.
	MaxBytesInFlight int64 `mapstructure:"max_bytes_in_flight"`

	// Storage is the storage extension that keeps requests until Sentry has accepted them. If it is
	// nil, they wait in memory.
	Storage *component.ID `mapstructure:"storage"`

	// Spool limits the requests that wait.
	Spool SpoolConfig `mapstructure:"spool"`

	// HTTP is not embedded, because that would promote the methods of ClientConfig. Its endpoint is
	// not used.
	HTTP confighttp.ClientConfig `mapstructure:",squash"`
}

// SpoolConfig limits the requests that wait for Sentry.
type SpoolConfig struct {
	// MaxBytes is the maximum size of stored requests. At the limit, the project that uses the most
	// space loses its oldest request.
	MaxBytes int64 `mapstructure:"max_bytes"`

	// MaxAge is how long a request may wait.
	MaxAge time.Duration `mapstructure:"max_age"`

	// DrainRate is the number of waiting requests sent per second.
	DrainRate int `mapstructure:"drain_rate"`
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	answerOwn      = "own"
	answerUpstream = "upstream"

	onLimitAbsorb = "absorb"
	onLimitPassOn = "pass_on"

	// defaultTimeout is the same as the exporter's: enough to send 20 MiB at 6 Mbit/s.
	defaultTimeout = 30 * time.Second

	// writeBuffer is enough to send most requests with one system call.
	writeBuffer = 32 << 10

	// defaultAnswerTimeout is how long the PHP SDK waits for a response while the application
	// handles a request. The Ruby SDK waits 2 s.
	defaultAnswerTimeout = 5 * time.Second

	// defaultNumConsumers: sentry.io responds in 50 to 200 ms, so this is enough for a few hundred
	// requests per second of one project.
	defaultNumConsumers = 96

	// defaultMaxBytesInFlight: fifty of the largest recorded requests, or about ten thousand
	// typical ones.
	defaultMaxBytesInFlight = 64 << 20

	// minBytesInFlight is three times the largest body that can be stored: a body needs more memory
	// while its buffer grows.
	minBytesInFlight = 3 * maxStoredBody

	// defaultSpoolBytes is enough for an outage of a day at one request of 12 kB per second.
	defaultSpoolBytes = 1 << 30

	// minSpoolBytes has room for a few bodies of the maximum size.
	minSpoolBytes = 3 * maxStoredBody

	// defaultSpoolAge is one day. Sentry accepts sessions up to five days old, and events up to
	// thirty.
	defaultSpoolAge = 24 * time.Hour
	maxSpoolAge     = 5 * 24 * time.Hour

	// defaultDrainRate: at 100 new requests per second, the requests of a one-hour outage are sent
	// within an hour. Sentry then receives twice the usual rate.
	defaultDrainRate = 100
)

func createDefaultConfig() component.Config {
	client := confighttp.NewDefaultClientConfig()
	client.Timeout = defaultTimeout
	client.WriteBufferSize = writeBuffer
	return &Config{
		Answer:           answerOwn,
		AnswerTimeout:    defaultAnswerTimeout,
		NumConsumers:     defaultNumConsumers,
		MaxBytesInFlight: defaultMaxBytesInFlight,
		Spool:            SpoolConfig{MaxBytes: defaultSpoolBytes, MaxAge: defaultSpoolAge, DrainRate: defaultDrainRate},
		HTTP:             client,
	}
}

// Unmarshal reads the configuration and rejects unknown keys.
func (c *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, c) }

// passesLimitsOn reports whether SDKs receive Sentry's limits.
func (c *Config) passesLimitsOn() bool {
	return c.OnLimit == onLimitPassOn || c.OnLimit == "" && c.Answer == answerUpstream
}

// Validate checks the configuration. Its errors name the key and suggest a valid value.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if err := validateUpstream(c.Upstream); err != nil && (c.Upstream != "" || len(c.Projects) == 0) {
		problem("upstream: %w", err)
	}
	if c.ManagementAPI && c.Upstream == "" {
		problem("management_api: requires upstream: set it to the address of Sentry, e.g. https://sentry.io")
	}
	problems = append(problems, validateProjects(c.Projects)...)
	if c.HTTP.Endpoint != "" {
		problem("endpoint: must not be set: requests are sent to upstream")
	}
	if c.HTTP.Compression.IsCompressed() {
		problem("compression: is %q, must not be set: bodies are forwarded unchanged", c.HTTP.Compression)
	}
	if c.HTTP.Cookies.HasValue() {
		problem("cookies: must not be set: requests of different clients share a connection")
	}
	if c.HTTP.Timeout <= 0 {
		problem("timeout: is %s, must be positive, e.g. %s", c.HTTP.Timeout, defaultTimeout)
	}
	if c.Answer != answerOwn && c.Answer != answerUpstream {
		problem("answer: is %q, must be %q or %q", c.Answer, answerOwn, answerUpstream)
	}
	if c.AnswerTimeout <= 0 {
		problem("answer_timeout: is %s, must be positive, e.g. %s", c.AnswerTimeout, defaultAnswerTimeout)
	}
	if c.OnLimit != "" && c.OnLimit != onLimitAbsorb && c.OnLimit != onLimitPassOn {
		problem("on_limit: is %q, must be %q or %q", c.OnLimit, onLimitAbsorb, onLimitPassOn)
	}
	if c.OnLimit == onLimitAbsorb && c.Answer == answerUpstream {
		problem("on_limit: is %q, but answer: %s passes on everything that Sentry returns: set on_limit: %s, or answer: %s",
			c.OnLimit, answerUpstream, onLimitPassOn, answerOwn)
	}
	problems = append(append(problems, omit.ValidateRates(c.Forward)...), httpclient.CheckProxy(&c.HTTP))
	if c.NumConsumers < 1 {
		problem("num_consumers: is %d, must be at least 1, e.g. %d", c.NumConsumers, defaultNumConsumers)
	}
	if c.MaxBytesInFlight < minBytesInFlight {
		problem("max_bytes_in_flight: is %d, must be at least %d, e.g. %d", c.MaxBytesInFlight, minBytesInFlight, defaultMaxBytesInFlight)
	}
	if c.Spool.MaxBytes < minSpoolBytes {
		problem("spool: max_bytes: is %d, must be at least %d, e.g. %d", c.Spool.MaxBytes, minSpoolBytes, defaultSpoolBytes)
	}
	if c.Spool.MaxAge <= 0 || c.Spool.MaxAge > maxSpoolAge {
		problem("spool: max_age: is %s, must be positive and at most %s because Sentry rejects older sessions, e.g. %s", c.Spool.MaxAge, maxSpoolAge, defaultSpoolAge)
	}
	if c.Spool.DrainRate < 1 {
		problem("spool: drain_rate: is %d, must be at least 1 request per second, e.g. %d", c.Spool.DrainRate, defaultDrainRate)
	}
	return errors.Join(problems...)
}

func validateUpstream(text string) error {
	if text == "" {
		return errors.New("must not be empty: set it to the address in your DSN, without key and project, e.g. https://o123.ingest.us.sentry.io")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("is not a valid URL: use the address in your DSN, e.g. https://o123.ingest.us.sentry.io") // err would repeat it, with its key if it is a DSN
	case u.User != nil:
		return errors.New("must not contain a key: use only the address in your DSN, e.g. https://o123.ingest.us.sentry.io")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("is %q, must begin with https:// or http://, followed by a host, e.g. https://o123.ingest.us.sentry.io", text)
	case u.RawQuery != "" || u.Fragment != "" || hasDotSegments(u.Path):
		return fmt.Errorf("is %q, must not contain a query, a fragment or dot segments", text)
	}
	return nil
}
