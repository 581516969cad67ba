// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
)

// readOTLPJSON reads one message per line, as the collector's file exporter writes them, or a
// single message on several lines.
func readOTLPJSON(data []byte, _ importer.Options) (out Content, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for n := 1; decoder.More(); n++ {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return Content{}, err
		}
		if err := out.addJSON(raw); err != nil {
			return Content{}, fmt.Errorf("message %d: %w", n, err)
		}
	}
	return out, nil
}

func (c *Content) addJSON(raw json.RawMessage) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return err
	}
	switch {
	case keys["resourceSpans"] != nil:
		traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(raw)
		c.Traces = append(c.Traces, traces)
		return err
	case keys["resourceLogs"] != nil:
		logs, err := new(plog.JSONUnmarshaler).UnmarshalLogs(raw)
		c.Logs = append(c.Logs, logs)
		return err
	case keys["resourceMetrics"] != nil:
		metrics, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(raw)
		c.Metrics = append(c.Metrics, metrics)
		return err
	}
	message, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(raw)
	if err == nil {
		var older bool
		if message, older, err = dialect.Current(message); older {
			c.Older++
		}
	}
	c.Profiles = append(c.Profiles, message)
	return err
}

// errNoContent is the error of a message that is valid in any signal, and empty.
var errNoContent = errors.New("it has no profile, span or log record")

// readOTLPProto reads one message of profiles, traces or logs. Messages do not state their signal:
// only profiles have a dictionary, and the first field of a span has a different wire type from
// that of a log record. Metrics cannot be distinguished from spans in this way, and are read only
// as JSON.
func readOTLPProto(data []byte, _ importer.Options) (Content, error) {
	if otlpsize.HasDictionary(data) {
		profiles, older, err := readProfiles(data)
		if err == nil && profiles.Dictionary().StringTable().Len() == 0 {
			err = errNoContent
		}
		if err != nil {
			return Content{}, err
		}
		return Content{Profiles: []pprofile.Profiles{profiles}, Older: older}, nil
	}
	traces, tracesErr := decode(otlpsize.Traces, data, new(ptrace.ProtoUnmarshaler).UnmarshalTraces)
	if tracesErr == nil && traces.SpanCount() > 0 {
		return Content{Traces: []ptrace.Traces{traces}}, nil
	}
	if errors.Is(tracesErr, otlpsize.ErrLimit) {
		return Content{}, tracesErr
	}
	logs, logsErr := decode(otlpsize.Logs, data, new(plog.ProtoUnmarshaler).UnmarshalLogs)
	if logsErr == nil && logs.LogRecordCount() > 0 {
		return Content{Logs: []plog.Logs{logs}}, nil
	}
	if errors.Is(logsErr, otlpsize.ErrLimit) {
		return Content{}, logsErr
	}
	_, _, err := readProfiles(data) // whose error states the version of an old producer
	return Content{}, cmp.Or(err, errNoContent)
}

// decode decodes a message that is not too large.
func decode[M any](size *otlpsize.Message, data []byte, unmarshal func([]byte) (M, error)) (message M, err error) {
	if err := size.Check(data); err != nil {
		return message, err
	}
	return unmarshal(data)
}

// readProfiles returns a message in the current version, and the number of messages in an older
// one.
func readProfiles(data []byte) (message pprofile.Profiles, older int, err error) {
	if err := otlpsize.Profiles.Check(data); err != nil {
		return message, 0, err
	}
	current, version, err := dialect.Decode(data)
	if err != nil {
		return message, 0, err
	}
	if version != dialect.V1_10 {
		older = 1
	}
	message, err = new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(current)
	return message, older, err
}
