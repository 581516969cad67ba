// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"errors"
	"fmt"
	"math"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
)

// errNoContent is the error of a message that is valid in any signal, and empty.
var errNoContent = errors.New("it has no profile, span, log record or metric")

// readOTLPProto reads a message, or the messages of a file with their lengths. After a message that
// cannot be decoded, the place of the next one is unknown.
func readOTLPProto(data []byte, _ importer.Options) (out Content, err error) {
	messages, damaged := [][]byte{data}, 0
	if _, framed := firstFrame(data); framed {
		if messages, damaged, err = frames(data); err != nil {
			return out, err
		}
	}
	left := otlpsize.Max
	for n, message := range messages {
		whole := out
		err := out.addProto(message, &left)
		_, older := errors.AsType[*dialect.Error](err)
		switch {
		case err == nil:
			continue
		case len(messages) == 1:
			return Content{}, err
		case errors.Is(err, errNoContent):
			out = whole
			continue
		case n == 0, older, errors.Is(err, otlpsize.ErrLimit):
			return Content{}, fmt.Errorf("message %d: %w", n+1, err)
		}
		whole.loseSamples()
		return whole, whole.lose(n, damaged+len(messages)-n)
	}
	if out.isEmpty() && damaged == 0 && len(out.Profiles) == 0 {
		return out, errNoContent
	}
	out.loseSamples()
	return out, out.lose(len(messages), damaged)
}

// addProto adds a message. Messages do not state their signal: only profiles have a dictionary, and
// the records of the other signals have fields of different types. left is the memory that is left
// for all messages.
func (c *Content) addProto(data []byte, left *int) error {
	switch signal := signalOf(data); signal {
	case signalTraces:
		traces, err := decode(otlpsize.Traces, data, left, new(ptrace.ProtoUnmarshaler).UnmarshalTraces)
		return added(&c.Traces, traces, err)
	case signalLogs:
		logs, err := decode(otlpsize.Logs, data, left, new(plog.ProtoUnmarshaler).UnmarshalLogs)
		return added(&c.Logs, logs, err)
	case signalMetrics:
		metrics, err := decode(otlpsize.Metrics, data, left, new(pmetric.ProtoUnmarshaler).UnmarshalMetrics)
		return added(&c.Metrics, metrics, err)
	}
	return c.addProfiles(data, left)
}

// decode decodes a message, if there is memory left.
func decode[M any](m *otlpsize.Message, data []byte, left *int, unmarshal func([]byte) (M, error)) (message M, err error) {
	memory, err := m.Estimate(data, math.MaxInt)
	if err != nil {
		return message, err
	}
	if *left -= memory; *left < 0 {
		return message, fmt.Errorf("%w: it needs %d MiB of memory, more than %d", otlpsize.ErrLimit, memory>>20, otlpsize.Max>>20)
	}
	return unmarshal(data)
}

// addProfiles adds profiles in the current version.
func (c *Content) addProfiles(data []byte, left *int) error {
	version := dialect.V1_10
	message, err := decode(otlpsize.Profiles, data, left, func([]byte) (pprofile.Profiles, error) {
		current, from, err := dialect.Decode(data)
		if err != nil {
			return pprofile.NewProfiles(), err
		}
		version = from
		return new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(current)
	})
	if err == nil && message.Dictionary().StringTable().Len() == 0 {
		err = errNoContent
	}
	if version != dialect.V1_10 {
		c.Older++
	}
	return added(&c.Profiles, message, err)
}
