// SPDX-License-Identifier: Apache-2.0

package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// TestLogElements: a bad element costs itself, and is counted.
func TestLogElements(t *testing.T) {
	const good = `{"timestamp":1,"body":"b","level":"info","trace_id":"53295a878b574a5665399b12b6f1d7fb"}`
	for _, c := range []struct {
		name, elements string
		kept           int
		lost           []discard.Loss
		flaws          []discard.Flaw
	}{
		{"all good", good + "," + good, 2, nil, nil},
		{"no objects", good + `,null,7,"x",[1],` + good, 2, []discard.Loss{{Reason: ReasonLogNoObject, Count: 4}}, []discard.Flaw{{Field: "items", Count: 3}}},
		{"no body", `{},{"body":null},{"body":{"a":1}},` + good, 1, []discard.Loss{{Reason: ReasonLogNoBody, Count: 3}}, []discard.Flaw{{Field: "body", Count: 1}}},
		{"body that is no text", `{"body":5},{"body":true}`, 2, nil, []discard.Flaw{{Field: "body", Count: 2}}},
		{"an empty body is one", `{"body":""}`, 1, nil, nil},
		{"fields of the wrong type", `{"body":"b","timestamp":{},"trace_id":7,"span_id":"xyz","level":[],"severity_number":"x","attributes":[]}`, 1, nil,
			[]discard.Flaw{{Field: "timestamp", Count: 1}, {Field: "trace_id", Count: 2}, {Field: "span_id", Count: 1}, {Field: "level", Count: 1}, {Field: "severity_number", Count: 1}, {Field: "attributes", Count: 1}}},
		{"fields that are null", `{"body":"b","timestamp":null,"trace_id":null,"span_id":null,"level":null,"severity_number":null,"attributes":null}`, 1, nil, nil},
		{"time before 1970", `{"body":"b","timestamp":-1}`, 1, nil, []discard.Flaw{{Field: "timestamp", Count: 1}}},
		{"trace id of zeros", `{"body":"b","trace_id":"00000000000000000000000000000000"}`, 1, nil, []discard.Flaw{{Field: "trace_id", Count: 1}}},
		{"attributes without type or value", `{"body":"b","attributes":{"a":{"value":1},"b":{"type":"string"},"c":null,"d":2,"":{"value":1}}}`, 1, nil, []discard.Flaw{{Field: "attributes", Count: 2}}},
	} {
		container, err := DecodeLogs([]byte(`{"items":[`+c.elements+`]}`), jsonscan.Optional[int]{})
		require.NoError(t, err, c.name)
		require.Len(t, container.Logs, c.kept, c.name)
		require.Equal(t, c.lost, container.Lost, c.name)
		require.Equal(t, c.flaws, container.Flaws, c.name)
	}
}

func TestLogContainers(t *testing.T) {
	container, err := DecodeLogs([]byte(`{"version":2,"ingest_settings":{"infer_ip":"auto","infer_user_agent":"never"},"items":[],"new":{}}`), jsonscan.Some(1))
	require.NoError(t, err)
	require.Equal(t, jsonscan.Some(int64(2)), container.Version)
	require.Equal(t, IngestSettings{InferIP: "auto", InferUserAgent: "never"}, container.IngestSettings)
	require.Equal(t, []discard.Flaw{{Field: "item_count", Count: 1}}, container.Flaws)

	for payload, reason := range map[string]discard.Reason{
		``:                         jsonscan.ReasonMalformed,
		`[]`:                       jsonscan.ReasonMalformed,
		`{"items":[{"body":"b"}`:   jsonscan.ReasonMalformed,
		`{"items":[{"body":"b"},]`: jsonscan.ReasonMalformed,
		`{}`:                       jsonscan.ReasonNothingUsable,
		`{"items":[{},{}]}`:        ReasonLogNoBody,
		`{"items":` + deep + `}`:   discard.ReasonTooDeep,
	} {
		_, err := DecodeLogs([]byte(payload), jsonscan.Optional[int]{})
		var discarded *discard.Error
		require.ErrorAs(t, err, &discarded, payload)
		require.Equal(t, reason, discarded.Reason, payload)
	}
}

var deep = func() (text string) {
	for range jsonscan.MaxJSONDepth + 1 {
		text = "[" + text + "]"
	}
	return text
}()

// TestEventLimits: a payload of small elements ends somewhere, and says so.
func TestEventLimits(t *testing.T) {
	frames := make([]byte, 0, 4*jsonscan.MaxElements)
	for range jsonscan.MaxElements + 10 {
		frames = append(frames, "{},"...)
	}
	e, err := DecodeEvent([]byte(`{"exception":[{"type":"E","stacktrace":{"frames":[` + string(frames[:len(frames)-1]) + `]}}],"message":"still read"}`))
	require.NoError(t, err)
	require.Len(t, e.Exceptions[0].Stacktrace.Frames, jsonscan.MaxElements-1)
	require.Equal(t, []discard.Flaw{{Field: "too_many", Count: 11}}, e.Flaws)
	require.Equal(t, "still read", e.Message.Formatted)
}

func TestTagLimit(t *testing.T) {
	var pairs []string
	for i := range maxTags + 3 {
		pairs = append(pairs, fmt.Sprintf(`["t%d","v"]`, i))
	}
	e, err := DecodeEvent([]byte(`{"tags":[` + strings.Join(pairs, ",") + `]}`))
	require.NoError(t, err)
	require.Len(t, e.Tags, maxTags)
	require.Equal(t, []discard.Flaw{{Field: "too_many", Count: 3}}, e.Flaws)
}

// TestEventValues: a list, an object with one, and the only element by itself.
func TestEventValues(t *testing.T) {
	for payload, want := range map[string]int{
		`[{"type":"E"},{"type":"F"}]`:                                2,
		`{"values":[{"type":"E"},{"type":"F"}]}`:                     2,
		`{"excluded":{},"values":[{"type":"E"}]}`:                    1,
		`{"type":"E","stacktrace":{"frames":[{"function":"main"}]}}`: 1,
		`{"values":null}`:                                            0,
		`{}`:                                                         0,
		`null`:                                                       0,
	} {
		e, err := DecodeEvent([]byte(`{"exception":` + payload + `,"message":"still read"}`))
		require.NoError(t, err, payload)
		require.Empty(t, e.Flaws, payload)
		require.Equal(t, "still read", e.Message.Formatted, payload)
		require.Len(t, e.Exceptions, want, payload)
		if want > 0 {
			require.Equal(t, "E", e.Exceptions[0].Type, payload)
		}
	}
}
