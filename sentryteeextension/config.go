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
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// Config is the configuration of the extension. The settings of the HTTP client stand beside its own keys.
type Config struct {
	// Upstream is the address of Sentry: that of the DSNs, without key and project. A path is a prefix, as in a DSN.
	Upstream string `mapstructure:"upstream"`

	// Projects map keys of ours to DSNs of Sentry. Other projects have the same keys there, and go to Upstream.
	Projects []ProjectConfig `mapstructure:"projects"`

	// ManagementAPI forwards /api/0/ to Upstream, with the tokens of its clients: for sentry-cli.
	ManagementAPI bool `mapstructure:"management_api"`

	// Answer says who answers SDKs: "own", the receiver, at once; "upstream", Sentry, for AnswerTimeout at most, then the receiver.
	Answer string `mapstructure:"answer"`

	// AnswerTimeout is how long a client waits for Sentry's answer. Requests that only Sentry can answer wait for the timeout.
	AnswerTimeout time.Duration `mapstructure:"answer_timeout"`

	// OnLimit says what SDKs learn of Sentry's rate limits: with "absorb" nothing, with "pass_on" everything. "" = absorb, and with
	// Sentry's own answers pass_on.
	OnLimit string `mapstructure:"on_limit"`

	// Forward has the part of items, by type, that is forwarded to Sentry: 1 = all, which is the default.
	Forward map[string]float64 `mapstructure:"forward"`

	// NumConsumers is how many requests are forwarded at a time.
	NumConsumers int `mapstructure:"num_consumers"`

	// MaxBytesInFlight bounds the memory of all requests together that are being received or forwarded, or wait without a storage.
	MaxBytesInFlight int64 `mapstructure:"max_bytes_in_flight"`

	// Storage is the storage extension in which requests are kept until Sentry has accepted them. nil = they wait in memory.
	Storage *component.ID `mapstructure:"storage"`

	// Spool bounds what waits.
	Spool SpoolConfig `mapstructure:"spool"`

	// HTTP is a named field, not an embedded one, which would promote the methods of ClientConfig. Its endpoint is unused.
	HTTP confighttp.ClientConfig `mapstructure:",squash"`
}

// SpoolConfig bounds the requests that wait for Sentry.
type SpoolConfig struct {
	// MaxBytes is the limit of the storage. Beyond it, the project that uses the most loses its oldest request.
	MaxBytes int64 `mapstructure:"max_bytes"`

	// MaxAge is how long a request may wait.
	MaxAge time.Duration `mapstructure:"max_age"`

	// DrainRate is how many of the requests that have waited are sent per second.
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

	// defaultTimeout of one request: as the exporter's, 20 MiB take as long at 6 Mbit/s.
	defaultTimeout = 30 * time.Second

	// defaultAnswerTimeout is what PHP's SDK waits for an answer, inside the page of a user. Ruby's waits 2 s.
	defaultAnswerTimeout = 5 * time.Second

	// defaultNumConsumers: answers of sentry.io take 50 to 200 ms, so this is for some hundred requests per second.
	defaultNumConsumers = 64

	// defaultMaxBytesInFlight: fifty of the largest recorded requests, or some ten thousand usual ones.
	defaultMaxBytesInFlight = 64 << 20

	// minBytesInFlight has room for the largest body that can be stored, twice: once more while it grows.
	minBytesInFlight = 3 * maxStoredBody

	// defaultSpoolBytes: an outage of a day at one request of 12 kB per second.
	defaultSpoolBytes = 1 << 30

	// minSpoolBytes is room for a few bodies of the largest size.
	minSpoolBytes = 3 * maxStoredBody

	// defaultSpoolAge is a day: Sentry accepts sessions for five, and events for thirty.
	defaultSpoolAge = 24 * time.Hour
	maxSpoolAge     = 5 * 24 * time.Hour

	// defaultDrainRate empties an hour's outage in an hour at twice that rate.
	defaultDrainRate = 100
)

func createDefaultConfig() component.Config {
	client := confighttp.NewDefaultClientConfig()
	client.Timeout = defaultTimeout
	return &Config{
		Answer:           answerOwn,
		AnswerTimeout:    defaultAnswerTimeout,
		NumConsumers:     defaultNumConsumers,
		MaxBytesInFlight: defaultMaxBytesInFlight,
		Spool:            SpoolConfig{MaxBytes: defaultSpoolBytes, MaxAge: defaultSpoolAge, DrainRate: defaultDrainRate},
		HTTP:             client,
	}
}

// Unmarshal reads the configuration, and fails for keys that do not exist.
func (c *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, c) }

// passesLimitsOn reports whether SDKs learn of Sentry's limits.
func (c *Config) passesLimitsOn() bool {
	return c.OnLimit == onLimitPassOn || c.OnLimit == "" && c.Answer == answerUpstream
}

// Validate checks the configuration; its messages name the key and what to write instead.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if err := validateUpstream(c.Upstream); err != nil && (c.Upstream != "" || len(c.Projects) == 0) {
		problem("upstream: %w", err)
	}
	if c.ManagementAPI && c.Upstream == "" {
		problem("management_api: needs upstream, give the address of Sentry, e.g. https://sentry.io")
	}
	problems = append(problems, validateProjects(c.Projects)...)
	if c.HTTP.Endpoint != "" {
		problem("endpoint: must be left out, upstream says where to send")
	}
	if c.HTTP.Compression.IsCompressed() {
		problem("compression: is %q, must be left out: bodies are forwarded as they came", c.HTTP.Compression)
	}
	if c.HTTP.Cookies.HasValue() {
		problem("cookies: must be left out, requests of different clients share the connection")
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
		problem("on_limit: is %q, but answer: %s passes on all that Sentry says: write on_limit: %s, or answer: %s",
			c.OnLimit, answerUpstream, onLimitPassOn, answerOwn)
	}
	problems = append(problems, omit.ValidateRates(c.Forward)...)
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
		problem("spool: max_age: is %s, must be positive and at most %s, which is what Sentry accepts of sessions, e.g. %s", c.Spool.MaxAge, maxSpoolAge, defaultSpoolAge)
	}
	if c.Spool.DrainRate < 1 {
		problem("spool: drain_rate: is %d, must be at least 1 request per second, e.g. %d", c.Spool.DrainRate, defaultDrainRate)
	}
	return errors.Join(problems...)
}

func validateUpstream(text string) error {
	if text == "" {
		return errors.New("must not be empty, give the address in your DSN without key and project, e.g. https://o123.ingest.us.sentry.io")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("is no URL, give e.g. https://o123.ingest.us.sentry.io") // err would repeat it, with its key if it is a DSN
	case u.User != nil:
		return errors.New("must not have a key: give the address of the DSN only, e.g. https://o123.ingest.us.sentry.io")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("is %q, must begin with https:// or http:// and a host, e.g. https://o123.ingest.us.sentry.io", text)
	case u.RawQuery != "" || u.Fragment != "" || hasDotSegments(u.Path):
		return fmt.Errorf("is %q, must have neither query nor fragment nor dot segments", text)
	}
	return nil
}
