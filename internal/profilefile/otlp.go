// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
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

// loseSamples counts the samples of profiles that have no data.
func (c *Content) loseSamples() {
	lost := 0
	for _, message := range c.Profiles {
		for s := range samplesOf(message) {
			if s.Values().Len() == 0 && s.TimestampsUnixNano().Len() == 0 {
				lost++
			}
		}
	}
	if lost > 0 {
		c.Losses = append(c.Losses, importer.Loss{What: "samples without a value or a time", Count: lost})
	}
}

func samplesOf(message pprofile.Profiles) iter.Seq[pprofile.Sample] {
	return func(yield func(pprofile.Sample) bool) {
		for _, resource := range message.ResourceProfiles().All() {
			for _, scope := range resource.ScopeProfiles().All() {
				for _, profile := range scope.Profiles().All() {
					for _, s := range profile.Samples().All() {
						if !yield(s) {
							return
						}
					}
				}
			}
		}
	}
}

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

// lose counts damaged messages. The end of a file is damaged if its collector was killed, and it
// may append to that end after a restart.
func (c *Content) lose(messages, damaged int) error {
	if damaged == 0 {
		return nil
	}
	if messages == 0 {
		return errIncomplete
	}
	c.Losses = append(c.Losses, importer.Loss{What: "messages that are damaged or incomplete", Count: damaged})
	return nil
}

var errIncomplete = errors.New("its first message is damaged or incomplete")

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

// added adds a message that was decoded without an error: the methods of other messages panic.
func added[M any](all *[]M, message M, err error) error {
	if err == nil {
		*all = append(*all, message)
	}
	return err
}

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

type signal int

const (
	signalProfiles signal = iota
	signalTraces
	signalLogs
	signalMetrics
)

// signalOf returns the signal of a message, which the first record with evidence determines. Other
// messages are profiles: their reader names the version of an older producer.
func signalOf(message []byte) signal {
	if otlpsize.HasDictionary(message) {
		return signalProfiles
	}
	for resource := range wire.Within(message, 1) {
		for _, scopes := range []protowire.Number{2, libraries} {
			for scope := range wire.Within(resource, scopes) {
				for record := range wire.Within(scope, 2) {
					if found := signalOfRecord(record); found != signalProfiles {
						return found
					}
				}
			}
		}
	}
	return signalProfiles
}

// libraries is the number of the field that became scopes. pdata still reads it.
const libraries = 1000

// signalOfRecord distinguishes records by the types of their fields:
//
//	field    span      log record   metric   profile
//	1        bytes     fixed64      bytes    bytes
//	2        bytes     varint       bytes    bytes
//	3        bytes     bytes        bytes    fixed64, bytes
//	4        bytes                           varint, fixed64, bytes
//	5        bytes     bytes        bytes    bytes, varint
//	6        varint    bytes                 varint, bytes
//	7        fixed64   varint       bytes    bytes, varint
//	8        fixed64   fixed32               varint, bytes
//	9, 10    any       bytes        bytes    any
//	11       bytes     fixed64      bytes    bytes
func signalOfRecord(record []byte) signal {
	span, log, profile, metric, named, data, content := false, false, false, true, false, false, false
	for field := range wire.Fields(record) {
		number, kind := field.Number, field.Kind
		isMetric := kind == protowire.BytesType && number != 4 && number != 6 && number != 8 && number <= 12
		metric = metric && isMetric
		data = data || isMetric && (number == 5 || number == 7 || number >= 9 && number <= 11)
		switch number {
		case 1:
			named, log = true, log || kind == protowire.Fixed64Type
		case 11:
			log = log || kind == protowire.Fixed64Type
		case 2:
			log = log || kind == protowire.VarintType
		case 3, 4:
			profile = profile || kind != protowire.BytesType
		case 5:
			content, profile = true, profile || kind == protowire.VarintType
		case 6:
			content, span = true, span || kind == protowire.VarintType
		case 7, 8:
			span = span || kind == protowire.Fixed64Type
			log = log || kind == protowire.Fixed32Type
		}
	}
	switch {
	case profile:
		return signalProfiles
	case log:
		return signalLogs
	case span:
		return signalTraces
	case metric && named && data:
		return signalMetrics
	case content && !named:
		return signalLogs // without a time
	}
	return signalProfiles
}
