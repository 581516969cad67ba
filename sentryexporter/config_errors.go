// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toissues"
)

// ErrorsConfig is the section "errors".
type ErrorsConfig struct {
	// FromSpans selects the exceptions of spans that become events: "unhandled", "all" or "none".
	FromSpans toissues.Selection `mapstructure:"from_spans"`

	// FromLogs selects the log records with exceptions that become events: "all" or "none".
	FromLogs toissues.Selection `mapstructure:"from_logs"`

	// SkipIfSentrySDK ignores exceptions of applications with a Sentry SDK, which reports them
	// itself.
	SkipIfSentrySDK bool `mapstructure:"skip_if_sentry_sdk"`

	// IncludePII keeps personal data in events.
	IncludePII bool `mapstructure:"include_pii"`

	// Tags are the attributes that become tags, which Sentry indexes for search.
	Tags []string `mapstructure:"tags"`

	// Dedupe is how long a failure is remembered, so that further records of it create no event. 0
	// disables deduplication across messages.
	Dedupe time.Duration `mapstructure:"dedupe"`

	// MaxPerMinute limits the events of one type and place; 0 = no limit.
	MaxPerMinute int `mapstructure:"max_per_minute"`
}

func defaultErrors() ErrorsConfig {
	return ErrorsConfig{
		FromSpans:       toissues.Unhandled,
		FromLogs:        toissues.All,
		SkipIfSentrySDK: true,
		Tags:            slices.Clone(toissues.DefaultTags),
		Dedupe:          10 * time.Minute, // few traces are longer
		MaxPerMinute:    60,
	}
}

// maxTags bounds the tags of an event, because Sentry indexes each tag.
const maxTags = 50

func (c *ErrorsConfig) validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if selections := []toissues.Selection{toissues.Unhandled, toissues.All, toissues.None}; !slices.Contains(selections, c.FromSpans) {
		problem("errors::from_spans: is %q, must be one of %q", c.FromSpans, selections)
	}
	if selections := []toissues.Selection{toissues.All, toissues.None}; !slices.Contains(selections, c.FromLogs) {
		problem("errors::from_logs: is %q, must be one of %q", c.FromLogs, selections)
	}
	if len(c.Tags) > maxTags || slices.Contains(c.Tags, "") {
		problem("errors::tags: has %d keys, must have at most %d and no empty ones", len(c.Tags), maxTags)
	}
	if c.Dedupe < 0 {
		problem("errors::dedupe: is %s, must not be negative; 0s disables it", c.Dedupe)
	}
	if c.MaxPerMinute < 0 {
		problem("errors::max_per_minute: is %d, must not be negative; 0 means no limit", c.MaxPerMinute)
	}
	return errors.Join(problems...)
}
