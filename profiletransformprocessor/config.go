// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
)

// Config is the configuration of the processor.
type Config struct {
	// Link configures how samples are linked to spans.
	Link LinkConfig `mapstructure:"link"`

	// Storage is the storage extension in which held profiles survive a crash.
	Storage *component.ID `mapstructure:"storage"`

	// RetryOnFailure bounds the retries of held profiles.
	RetryOnFailure RetryConfig `mapstructure:"retry_on_failure"`

	// Batch joins messages, for exporters and backends for which a message is expensive.
	Batch BatchConfig `mapstructure:"batch"`

	// Transforms reshape profiles after linking, in order.
	Transforms []TransformConfig `mapstructure:"transforms"`
}

// RetryConfig bounds the retries of profiles that the next component refuses. The key is the same
// as in exporters.
type RetryConfig struct {
	// MaxElapsedTime is how long a message is retried while the next component refuses it but
	// accepts others; 0 means no limit. Messages are kept while the next component refuses
	// everything.
	MaxElapsedTime time.Duration `mapstructure:"max_elapsed_time"`

	_ struct{} // no unkeyed literals, so that a new field breaks nobody
}

// LinkConfig configures how samples are linked to spans.
type LinkConfig struct {
	// Enabled is true by default. Without a traces pipeline there are no spans to link to.
	Enabled bool `mapstructure:"enabled"`

	// Preset selects the attributes that identify the track of spans and samples: "sentry" or
	// "otel".
	Preset string `mapstructure:"preset"`

	// Keys replaces attributes of the preset, key by key.
	Keys KeysConfig `mapstructure:"keys"`

	// Wait is how long profiles wait for spans that end after the profile was sent.
	Wait time.Duration `mapstructure:"wait"`

	// Ambiguous states how to link samples that several unrelated spans cover: "skip" or
	// "innermost".
	Ambiguous spanlink.Policy `mapstructure:"ambiguous"`

	// MaxHeldProfiles and MaxHeldBytes bound the queue of held profiles. At the limit, the oldest
	// profiles are forwarded early.
	MaxHeldProfiles int   `mapstructure:"max_held_profiles"`
	MaxHeldBytes    int64 `mapstructure:"max_held_bytes"`

	// KeepSpans, MaxIndexBytes and MaxSpans bound the index of spans. At the limit, the tenant that
	// uses the most loses its oldest spans.
	KeepSpans     time.Duration `mapstructure:"keep_spans"`
	MaxIndexBytes int64         `mapstructure:"max_index_bytes"`
	MaxSpans      int           `mapstructure:"max_spans"`
}

// KeysConfig contains attribute names, as in spanlink.Keys.
type KeysConfig struct {
	Tenant  []string   `mapstructure:"tenant"`
	Session [][]string `mapstructure:"session"`
	Thread  string     `mapstructure:"thread"`
	Segment string     `mapstructure:"segment"`
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	presetSentry = "sentry"
	presetOTel   = "otel"

	// defaultWait is enough for most spans: requests usually take less than 20 s, and SDKs send
	// spans within 5 s of their end.
	defaultWait = 30 * time.Second

	// minDuration detects numbers without a unit, which are parsed as nanoseconds.
	minDuration = time.Millisecond

	// maxWait bounds the wait, because held profiles use memory, and backends reject data that is
	// too old.
	maxWait = time.Hour

	// defaultMaxHeldProfiles and defaultMaxHeldBytes are enough for all chunks that one core
	// receives and exports in defaultWait, if as many V1 profiles arrive: see TestBusyCore.
	defaultMaxHeldProfiles = 10_000
	defaultMaxHeldBytes    = 128 << 20

	// defaultKeepSpans covers the time until a profile arrives, up to one minute after the end of
	// its first spans, or four minutes if the event loop was blocked, and the time that it waits.
	defaultKeepSpans = 5 * time.Minute

	// defaultMaxElapsedTime is the same as in exporters.
	defaultMaxElapsedTime = 5 * time.Minute

	// defaultMaxSpans is no limit in practice: max_index_bytes is.
	defaultMaxSpans = spanlink.MaxSpans

	// minIndexBytes is enough for 2 million spans, which are 6,500 per second for five minutes.
	minIndexBytes = 150 << 20
	// memoryPerIndex is the part of GOMEMLIMIT that the index uses by default. With 8 GiB, it holds
	// the spans of five minutes of all that one core can receive.
	memoryPerIndex = 8
)

// defaultMaxIndexBytes returns the default of max_index_bytes for this machine.
func defaultMaxIndexBytes() int64 {
	limit := debug.SetMemoryLimit(-1) // GOMEMLIMIT
	if limit == math.MaxInt64 {
		return minIndexBytes
	}
	return max(minIndexBytes, limit/memoryPerIndex)
}

func createDefaultConfig() component.Config {
	return &Config{Link: LinkConfig{
		Enabled:         true,
		Preset:          presetSentry,
		Wait:            defaultWait,
		Ambiguous:       spanlink.Skip,
		MaxHeldProfiles: defaultMaxHeldProfiles,
		MaxHeldBytes:    defaultMaxHeldBytes,
		KeepSpans:       defaultKeepSpans,
		MaxIndexBytes:   defaultMaxIndexBytes(),
		MaxSpans:        defaultMaxSpans,
	}, RetryOnFailure: RetryConfig{MaxElapsedTime: defaultMaxElapsedTime}, Batch: BatchConfig{MaxBytes: defaultBatchBytes}}
}

// Unmarshal reads the configuration.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := checkListForm(conf.Get("transforms")); err != nil {
		return err
	}
	return collector.UnmarshalConfig(conf, c)
}

// Validate checks the configuration. Its errors name the key and the fix.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	link := &c.Link
	if link.Preset != presetSentry && link.Preset != presetOTel {
		problem("link::preset: is %q, must be %q or %q", link.Preset, presetSentry, presetOTel)
	} else if keys := link.keys(); keys.Validate() != nil {
		problem("link::keys: %w", keys.Validate())
	}
	if err := link.Ambiguous.Validate(); err != nil {
		problem("link::ambiguous: %w", err)
	}
	if link.Wait != 0 && (link.Wait < minDuration || link.Wait > maxWait) {
		problem("link::wait: is %s, must be 0s or between %s and %s, with a unit, e.g. %s", link.Wait, minDuration, maxWait, defaultWait)
	}
	if link.KeepSpans <= link.Wait || link.KeepSpans < minDuration {
		problem("link::keep_spans: is %s, must be longer than link::wait (%s), with a unit, e.g. %s", link.KeepSpans, link.Wait, defaultKeepSpans)
	}
	for _, limit := range []struct {
		key       string
		is, usual int64
	}{
		{"max_held_profiles", int64(link.MaxHeldProfiles), defaultMaxHeldProfiles},
		{"max_held_bytes", link.MaxHeldBytes, defaultMaxHeldBytes},
		{"max_index_bytes", link.MaxIndexBytes, minIndexBytes},
		{"max_spans", int64(link.MaxSpans), defaultMaxSpans},
	} {
		if limit.is <= 0 {
			problem("link::%s: is %d, must be at least 1, e.g. %d", limit.key, limit.is, limit.usual)
		}
	}
	if link.MaxSpans > spanlink.MaxSpans {
		problem("link::max_spans: is %d, must be at most %d", link.MaxSpans, spanlink.MaxSpans)
	}
	if elapsed := c.RetryOnFailure.MaxElapsedTime; elapsed != 0 && elapsed < minDuration {
		problem("retry_on_failure::max_elapsed_time: is %s, must be 0s for no limit or at least %s, with a unit, e.g. %s", elapsed, minDuration, defaultMaxElapsedTime)
	}
	if timeout := c.Batch.Timeout; timeout != 0 && (timeout < minDuration || timeout > maxWait) {
		problem("batch::timeout: is %s, must be 0s for no batches or between %s and %s, with a unit, e.g. 10s", timeout, minDuration, maxWait)
	}
	if c.Batch.MaxBytes <= 0 {
		problem("batch::max_bytes: is %d, must be at least 1, e.g. %d", c.Batch.MaxBytes, defaultBatchBytes)
	}
	if err := transformsConfig(c.Transforms).validate(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// keys returns the keys of the preset, with the configured replacements.
func (c *LinkConfig) keys() spanlink.Keys {
	keys := spanlink.Sentry
	if c.Preset == presetOTel {
		keys = spanlink.OTel
	}
	if c.Keys.Tenant != nil {
		keys.Tenant = c.Keys.Tenant
	}
	if c.Keys.Session != nil {
		keys.Session = c.Keys.Session
	}
	if c.Keys.Thread != "" {
		keys.Thread = c.Keys.Thread
	}
	if c.Keys.Segment != "" {
		keys.Segment = c.Keys.Segment
	}
	return keys
}
