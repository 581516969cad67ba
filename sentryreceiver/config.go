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
)

// Config is the configuration of the receiver. The settings of the HTTP server stand beside its own keys.
type Config struct {
	// HTTP is a named field, not an embedded one, which would promote the methods of ServerConfig.
	HTTP confighttp.ServerConfig `mapstructure:",squash"`

	// PathPrefix stands in front of /api, as the path of a DSN does: https://key@host/some/prefix/1.
	PathPrefix string `mapstructure:"path_prefix"`

	// TunnelPath takes envelopes without credentials in the request: the DSN is in the envelope. It is the whole path, also
	// with a PathPrefix. "" = there is none.
	TunnelPath string `mapstructure:"tunnel_path"`

	// Projects are those that may send. Without any, every DSN is good: for development, and for networks that are closed.
	Projects []ProjectConfig `mapstructure:"projects"`

	// MaxBytesInFlight bounds the bodies of all requests together, decoded and encoded, and what is made of them.
	MaxBytesInFlight int64 `mapstructure:"max_bytes_in_flight"`

	// Connections bounds what clients may hold of the server, whoever they are.
	Connections httpserver.Limits `mapstructure:"connections"`

	// MaxProfileSize is the largest payload of a profile item, in bytes after decompression.
	MaxProfileSize int64 `mapstructure:"max_profile_size"`

	// Validation says what happens to profiles and spans that break a published rule: "lenient" keeps what is usable, "strict"
	// discards them as Sentry does.
	Validation profile.Validation `mapstructure:"validation"`

	// ProfileType is what the samples of SDKs mean: "wall" or "cpu". Sentry's formats do not say, its SDKs sample wall time.
	ProfileType string `mapstructure:"profile_type"`

	// KeepOriginalPayload puts the JSON of each profile beside its translation, with the format "sentry".
	KeepOriginalPayload bool `mapstructure:"keep_original_payload"`

	// IncludePII passes on what Sentry calls default PII: cookies, authorization headers, http.env, IP addresses, e-mail.
	IncludePII bool `mapstructure:"include_pii"`

	// CorrectClockDrift moves the times of clients whose clock is far off, where that takes no profile away from its spans.
	CorrectClockDrift bool `mapstructure:"correct_clock_drift"`

	// Dedup drops data that was accepted before. Native sends an event again after a crash; java and cocoa send everything again that
	// got no answer.
	Dedup dedup.Config `mapstructure:"dedup"`

	// BackpressurePause is how long SDKs are asked to send no more of a signal when its pipeline refuses something.
	BackpressurePause time.Duration `mapstructure:"backpressure_pause"`
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	profileTypeWall = "wall"
	profileTypeCPU  = "cpu"

	// defaultEndpoint: one beyond OTLP's 4317 and 4318, on the local host only, as the collector's other receivers.
	defaultEndpoint = "localhost:4319"

	// defaultMaxRequestBodySize: the largest recorded request is a node chunk of 34 MB, uncompressed. Sentry takes 200 MiB
	// because of attachments, which nothing here consumes; 100 MiB are two profiles of the largest size.
	defaultMaxRequestBodySize = 100 << 20

	// defaultMaxBytesInFlight: one request of the largest size always fits (see NeedOfOne), and so do the bodies of nine
	// of the largest chunks recorded, node's of 34 MB.
	defaultMaxBytesInFlight = 320 << 20

	// defaultReadTimeout: confighttp has none, and a body that never ends would hold its connection for ever. A phone on a
	// bad network needs a minute for a megabyte.
	defaultReadTimeout = 5 * time.Minute

	// defaultBackpressurePause: long enough to relieve a pipeline, short against the 60 s of a continuous profiling chunk.
	defaultBackpressurePause = 10 * time.Second

	// maxBackpressurePause: Relay's own limits do not go beyond a day either, and an SDK that is paused sends nothing at all.
	maxBackpressurePause = 24 * time.Hour
)

func createDefaultConfig() component.Config {
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = defaultEndpoint
	server.MaxRequestBodySize = defaultMaxRequestBodySize
	server.ReadTimeout = defaultReadTimeout
	server.CompressionAlgorithms = slices.Clone(httpbody.Defaults)
	return &Config{
		HTTP:              server,
		MaxBytesInFlight:  defaultMaxBytesInFlight,
		Connections:       httpserver.DefaultLimits(),
		MaxProfileSize:    sentry.MaxProfileSize,
		Validation:        profile.Lenient,
		ProfileType:       profileTypeWall,
		Dedup:             dedup.Config{MaxAge: defaultDedupAge},
		BackpressurePause: defaultBackpressurePause,
	}
}

// Unmarshal reads the configuration, and fails for keys that do not exist.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := collector.UnmarshalConfig(conf, c, collector.RenamedKey{Old: "drop_resent", New: "dedup"}); err != nil {
		return err
	}
	// "projects:" with nothing behind it is nil to confmap, as if it were not there: it must not open the door to everybody.
	if conf.IsSet("projects") && c.Projects == nil {
		c.Projects = []ProjectConfig{}
	}
	return nil
}

// Validate checks the configuration; its messages name the key and what to write instead.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if c.HTTP.NetAddr.Endpoint == "" {
		problem("endpoint: must not be empty, give host:port, e.g. %s", defaultEndpoint)
	}
	problems = append(problems, httpbody.Validate(&c.HTTP, c.MaxBytesInFlight, defaultMaxRequestBodySize)...)
	if c.MaxProfileSize <= 0 || c.MaxProfileSize > math.MaxInt32 {
		problem("max_profile_size: is %d, must be a number of bytes from 1 to %d, e.g. %d", c.MaxProfileSize, math.MaxInt32, sentry.MaxProfileSize)
	}
	if c.Validation != profile.Lenient && c.Validation != profile.Strict {
		problem("validation: is %q, must be %q or %q", c.Validation, profile.Lenient, profile.Strict)
	}
	if c.ProfileType != profileTypeWall && c.ProfileType != profileTypeCPU {
		problem("profile_type: is %q, must be %q or %q", c.ProfileType, profileTypeWall, profileTypeCPU)
	}
	// SDKs read whole seconds: python drops a limit that int() does not take.
	if p := c.BackpressurePause; p < time.Second || p > maxBackpressurePause || p%time.Second != 0 {
		problem("backpressure_pause: is %s, must be whole seconds from 1s to %s, e.g. %s", p, maxBackpressurePause, defaultBackpressurePause)
	}
	if strings.HasPrefix(c.TunnelPath+"/", c.PathPrefix+"/api/") {
		problem("tunnel_path: is %q, must not be among the other endpoints, below %s, e.g. %q", c.TunnelPath, c.PathPrefix+"/api/", "/tunnel")
	}
	return errors.Join(append(problems, validatePath("path_prefix", c.PathPrefix, "/sentry"),
		validatePath("tunnel_path", c.TunnelPath, "/tunnel"), validateProjects(c.Projects))...)
}

func validatePath(key, path, example string) error {
	if path == "" {
		return nil
	}
	segments := strings.Split(path, "/")
	switch {
	case !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/"):
		return fmt.Errorf("%s: is %q, must begin with a slash and not end with one, e.g. %q", key, path, example)
	case strings.ContainsAny(path, "?#{}% "):
		return fmt.Errorf("%s: is %q, must be a plain path without any of ?#{}%% or blanks, e.g. %q", key, path, example)
	case slices.ContainsFunc(segments[1:], func(s string) bool { return s == "" || s == "." || s == ".." }):
		return fmt.Errorf("%s: is %q, must not have empty or dot segments, e.g. %q", key, path, example)
	}
	return nil
}
