// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/admission"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/spotlight"
)

// Config is the configuration of the receiver. It contains the settings of the HTTP server.
type Config struct {
	// HTTP is a named field: an embedded one would promote the methods of ServerConfig.
	HTTP confighttp.ServerConfig `mapstructure:",squash"`

	// PathPrefix precedes /api, like the path of a DSN: https://key@host/some/prefix/1.
	PathPrefix string `mapstructure:"path_prefix"`

	// TunnelPath is the path for envelopes that contain the DSN, sent without credentials in the
	// request. PathPrefix does not apply to it. "" disables the tunnel.
	TunnelPath string `mapstructure:"tunnel_path"`

	// Spotlight accepts data from SDKs with the option "spotlight", which need no DSN.
	Spotlight spotlight.Config `mapstructure:"spotlight"`

	// Projects are the accepted projects. If it is not set, every DSN is accepted, which is meant
	// for development and private networks.
	Projects []ProjectConfig `mapstructure:"projects"`

	// MaxBytesInFlight limits the memory of all requests together: encoded bodies, decoded bodies
	// and translations.
	MaxBytesInFlight int64 `mapstructure:"max_bytes_in_flight"`

	// Connections limits the server resources that clients can use.
	Connections httpserver.Limits `mapstructure:"connections"`

	// MaxProfileSize is the maximum size of the payload of a profile item, in bytes after
	// decompression.
	MaxProfileSize int64 `mapstructure:"max_profile_size"`

	// Validation selects the handling of profiles and spans that break a published rule: "lenient"
	// keeps their usable parts, "strict" discards them, like Sentry.
	Validation profile.Validation `mapstructure:"validation"`

	// ProfileType is the sample type, "wall" or "cpu". Sentry's formats do not state it; its SDKs
	// sample wall-clock time.
	ProfileType string `mapstructure:"profile_type"`

	// KeepOriginalPayload stores the JSON of each profile as its original payload, in the format
	// "sentry".
	KeepOriginalPayload bool `mapstructure:"keep_original_payload"`

	// IncludePII includes what Sentry calls default PII: cookies, authorization headers, http.env,
	// IP addresses, e-mail addresses.
	IncludePII bool `mapstructure:"include_pii"`

	// KeepMetricAttributes are attributes of single recordings, such as user.id, that stay on data
	// points. By default they are on exemplars, because each of their values creates a series.
	KeepMetricAttributes []string `mapstructure:"keep_metric_attributes"`

	// Scrubbing removes passwords, tokens, card numbers and similar data from all signals, as
	// Sentry's servers do by default.
	Scrubbing scrub.Config `mapstructure:"scrubbing"`

	// CorrectClockDrift corrects the times of clients with a wrong clock, except where this would
	// separate a profile from its spans.
	CorrectClockDrift bool `mapstructure:"correct_clock_drift"`

	// Dedup drops data that was accepted before. The Native SDK resends an event after a crash;
	// Java and Cocoa resend all data for which they received no response.
	Dedup dedup.Config `mapstructure:"dedup"`

	// BackpressurePause is how long SDKs should stop sending a signal whose pipeline refuses data.
	BackpressurePause time.Duration `mapstructure:"backpressure_pause"`
}

// ProjectConfig is an accepted project.
type ProjectConfig = admission.Project

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	profileTypeWall = "wall"
	profileTypeCPU  = "cpu"

	// defaultEndpoint is reachable only from this host, like the default endpoints of other
	// receivers. 4317 and 4318 are the ports of OTLP.
	defaultEndpoint = "localhost:4319"

	// defaultMaxRequestBodySize is enough for two profiles of the maximum size. The largest
	// recorded request is a Node.js chunk of 34 MB, uncompressed. Sentry accepts 200 MiB because of
	// attachments, whose content this receiver does not keep.
	defaultMaxRequestBodySize = 100 << 20

	// defaultMaxBytesInFlight is enough for one request of the maximum size (see MaxPerRequest), or
	// for nine bodies as large as the largest recorded chunk (34 MB).
	defaultMaxBytesInFlight = 320 << 20

	// defaultBackpressurePause gives a pipeline time to recover. It is short compared with a
	// continuous profiling chunk (60 s).
	defaultBackpressurePause = 10 * time.Second

	// maxBackpressurePause is the maximum of Relay's own limits. SDKs drop the data of a paused
	// signal.
	maxBackpressurePause = 24 * time.Hour
)

func createDefaultConfig() component.Config {
	return &Config{
		HTTP:              httpbody.DefaultServerConfig(defaultEndpoint, defaultMaxRequestBodySize),
		MaxBytesInFlight:  defaultMaxBytesInFlight,
		Connections:       httpserver.DefaultLimits(),
		MaxProfileSize:    sentry.MaxProfileSize,
		Validation:        profile.Lenient,
		ProfileType:       profileTypeWall,
		Dedup:             dedup.Config{MaxAge: defaultDedupAge},
		Scrubbing:         scrub.DefaultConfig(),
		BackpressurePause: defaultBackpressurePause,
	}
}

// Unmarshal reads the configuration. Unknown keys are errors.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := collector.UnmarshalConfig(conf, c, collector.RenamedKey{Old: "drop_resent", New: "dedup"}); err != nil {
		return err
	}
	// confmap treats "projects:" without a value like a missing key, but it must not accept every
	// DSN.
	if conf.IsSet("projects") && c.Projects == nil {
		c.Projects = []ProjectConfig{}
	}
	return nil
}

// translation returns the settings that change the translation of items.
func (c *Config) translation() sentryitems.Settings {
	return sentryitems.Settings{
		Validation:          c.Validation,
		ProfileType:         c.ProfileType,
		MaxProfileSize:      c.MaxProfileSize,
		KeepOriginalPayload: c.KeepOriginalPayload,
		IncludePII:          c.IncludePII,
		CorrectClockDrift:   c.CorrectClockDrift,
		PointAttributes:     c.KeepMetricAttributes,
		Identify:            c.Dedup.Enabled(),
	}
}

// Validate checks the configuration. Its messages name the key and a valid value.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	problems = append(problems, httpbody.Validate(&c.HTTP, c.MaxBytesInFlight, defaultEndpoint, defaultMaxRequestBodySize)...)
	if c.MaxProfileSize <= 0 || c.MaxProfileSize > math.MaxInt32 {
		problem("max_profile_size: is %d, must be a number of bytes from 1 to %d, e.g. %d", c.MaxProfileSize, math.MaxInt32, sentry.MaxProfileSize)
	}
	if c.Validation != profile.Lenient && c.Validation != profile.Strict {
		problem("validation: is %q, must be %q or %q", c.Validation, profile.Lenient, profile.Strict)
	}
	if c.ProfileType != profileTypeWall && c.ProfileType != profileTypeCPU {
		problem("profile_type: is %q, must be %q or %q", c.ProfileType, profileTypeWall, profileTypeCPU)
	}
	for i, key := range c.KeepMetricAttributes {
		switch {
		case key == "" || strings.Contains(key, "*"):
			problem("keep_metric_attributes[%d]: is %q, must be the full name of an attribute, e.g. %q", i, key, semconv.UserID)
		case !attr.OfRecording(key):
			problem("keep_metric_attributes[%d]: is %q, which is on data points already; must be an attribute of single recordings, e.g. %q", i, key, semconv.UserID)
		}
	}
	// SDKs read whole seconds: Python drops a limit that int() rejects.
	if p := c.BackpressurePause; p < time.Second || p > maxBackpressurePause || p%time.Second != 0 {
		problem("backpressure_pause: is %s, must be whole seconds from 1s to %s, e.g. %s", p, maxBackpressurePause, defaultBackpressurePause)
	}
	if strings.HasPrefix(c.TunnelPath+"/", c.PathPrefix+"/api/") {
		problem("tunnel_path: is %q, must not be below %s, where the other endpoints are, e.g. %q", c.TunnelPath, c.PathPrefix+"/api/", "/tunnel")
	}
	return errors.Join(append(problems, validatePath("path_prefix", c.PathPrefix, "/sentry"),
		validatePath("tunnel_path", c.TunnelPath, "/tunnel"), admission.Validate(c.Projects))...)
}

func validatePath(key, path, example string) error {
	if path == "" {
		return nil
	}
	segments := strings.Split(path, "/")
	switch {
	case !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/"):
		return fmt.Errorf("%s: is %q, must start, but not end, with a slash, e.g. %q", key, path, example)
	case strings.ContainsAny(path, "?#{}% "):
		return fmt.Errorf("%s: is %q, must not contain any of ?#{}%% or spaces, e.g. %q", key, path, example)
	case slices.ContainsFunc(segments[1:], func(s string) bool { return s == "" || s == "." || s == ".." }):
		return fmt.Errorf("%s: is %q, must not have empty or dot segments, e.g. %q", key, path, example)
	}
	return nil
}
