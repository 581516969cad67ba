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
)

// readOTLPJSON reads one message per line, as the collector's file exporter writes them, or
// messages on several lines, or with their lengths.
func readOTLPJSON(data []byte, _ importer.Options) (out Content, err error) {
	messages, damaged, err := jsonMessages(data)
	if err != nil {
		return out, err
	}
	empty := true // so far; asking all messages after each would take quadratic time
	for n, message := range messages {
		var one Content
		err := one.addJSON(message)
		if empty = empty && (err != nil || one.isEmpty()); empty || err != nil {
			err = cmp.Or(olderJSON(message), err)
		}
		out.append(&one)
		if err != nil {
			return Content{}, fmt.Errorf("message %d: %w", n+1, err)
		}
	}
	out.loseSamples()
	return out, out.lose(len(messages), damaged)
}

// olderJSON returns an error for profiles of OTLP 1.8 or older. JSON contains field names, and
// OTLP 1.9 renamed some, such as sample and line: pdata ignores the old names. Of these versions,
// only Protocol Buffers are translated.
func olderJSON(message []byte) error {
	var m struct {
		ResourceProfiles []struct {
			ScopeProfiles []struct {
				Profiles []struct{ SampleType, Sample json.RawMessage }
			}
		}
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	for _, resource := range m.ResourceProfiles {
		for _, scope := range resource.ScopeProfiles {
			for _, profile := range scope.Profiles {
				switch {
				case bytes.HasPrefix(profile.SampleType, []byte("[")):
					return &dialect.Error{Producer: dialect.Producer(pprofile.NewProfiles()), Version: dialect.V1_7, Reason: errOldJSON}
				case profile.Sample != nil:
					return &dialect.Error{Producer: dialect.Producer(pprofile.NewProfiles()), Version: dialect.V1_8, Reason: errOldJSON}
				}
			}
		}
	}
	return nil
}

var errOldJSON = errors.New("it is JSON; only protobuf of this version is translated")

// jsonMessages returns the messages of a file, and the number of damaged ones.
func jsonMessages(data []byte) (all [][]byte, damaged int, err error) {
	if _, framed := firstFrame(data); framed {
		if all, damaged, err = frames(data); err == nil {
			err = limited(maxOTLPObjects, countNulls, all...)
		}
		return all, damaged, err
	}
	if err := limited(maxOTLPObjects, countNulls, data); err != nil {
		return nil, 0, err
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(data, "\r\n"), []byte("\n"))
	if _, err := jsonValues(first); err != nil { // messages on several lines
		if all, err = jsonValues(data); err != nil {
			damaged++
		}
		return all, damaged, nil
	}
	for line := range bytes.Lines(data) {
		values, err := jsonValues(line)
		if all = append(all, values...); err != nil {
			damaged++
		}
	}
	return all, damaged, nil
}

// jsonValues returns the values in a text, up to the first damaged one.
func jsonValues(text []byte) (values [][]byte, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return values, err
		}
		values = append(values, value)
	}
	return values, nil
}

func (c *Content) addJSON(raw []byte) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return err
	}
	has := func(key, old string) bool { return keys[key] != nil || keys[old] != nil } // as in pdata
	switch {
	case has("resourceSpans", "resource_spans"):
		traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(raw)
		return added(&c.Traces, traces, err)
	case has("resourceLogs", "resource_logs"):
		logs, err := new(plog.JSONUnmarshaler).UnmarshalLogs(raw)
		return added(&c.Logs, logs, err)
	case has("resourceMetrics", "resource_metrics"):
		metrics, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(raw)
		return added(&c.Metrics, metrics, err)
	}
	message, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(raw)
	if err == nil {
		var older bool
		if message, older, err = dialect.Current(message); older {
			c.Older++
		}
	}
	return added(&c.Profiles, message, err)
}
