// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// FuzzReadEnvelope holds the reader against three things: the invariants of its result, its
// inverse, and a reader that knows only well-formed envelopes and was written another way.
func FuzzReadEnvelope(f *testing.F) {
	for _, body := range []string{
		"", "{}", "{}\n", "{}\r\n\r\n", "[]", "{\n}\n{\n}\n",
		"{}\n{\"type\":\"profile_chunk\"}\n{\"a\":1}",
		"{\"event_id\":\"3D9339AE-11f8-477f-a031-8b8f714b576c\",\"sent_at\":\"2026-11-21T01:23:23.5+02:00\"}\n" +
			"{\"type\":\"attachment\",\"length\":3,\"sampled\":false}\na\nb\n{\"type\":\"session\",\"item_count\":0}\n{}\n\n",
		"{\"trace\":{\"sample_rate\":1,\"sampled\":true,\"release\":\"\\ud800\xff\"},\"sdk\":{\"name\":\"x\"}}\n{\"length\":0}",
		"{}\n{\"length\":\"1\"}\na\n{\"length\":-1}\n\n{\"length\":1.5}\nb",
		"{\"dsn\":\"a\",\"dsn\":\"b\"}\n", "{}\n{\"length\":99999999999999999999}\na", "{}\n{\"length\":3}\r\n\na\r\n",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		e, err := ReadEnvelope(body)
		require.Equal(t, before, body, "the body is only read")
		require.NotNil(t, e)
		require.LessOrEqual(t, len(e.Items), MaxEnvelopeItems)
		checkPayloadsLieInOrder(t, body, e)
		checkFrames(t, body)

		if err != nil {
			var bad *EnvelopeError
			require.ErrorAs(t, err, &bad)
			require.NotEmpty(t, bad.Reason)
			require.LessOrEqual(t, bad.Offset, len(body))
			require.True(t, bad.Item == 0 && len(e.Items) == 0 || bad.Item == len(e.Items)+1, "item %d after %d", bad.Item, len(e.Items))
		}

		written, writeErr := AppendEnvelope(nil, e)
		if writeErr != nil {
			// A header near the limit may grow: a control character takes six bytes.
			var bad *EnvelopeError
			require.ErrorAs(t, writeErr, &bad)
			require.Equal(t, ReasonEnvelopeHeaderTooLarge, bad.Reason)
			require.Greater(t, len(body), MaxHeaderBytes/6)
		} else {
			again, err := ReadEnvelope(written)
			require.NoError(t, err)
			require.Equal(t, e, again, "%q", written)
		}

		if items, oracleErr := readWellFormed(body); oracleErr == nil && len(items) <= MaxEnvelopeItems && len(body) <= MaxHeaderBytes {
			require.NoError(t, err)
			require.Equal(t, items, framedItems(e))
		}
	})
}

// checkPayloadsLieInOrder makes sure that payloads are views into the body, one behind the other.
func checkPayloadsLieInOrder(t *testing.T, body []byte, e *Envelope) {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(body)))
	end := from + uintptr(len(body))
	for _, item := range e.Items {
		require.NotNil(t, item.Payload)
		start := uintptr(unsafe.Pointer(unsafe.SliceData(item.Payload)))
		if len(item.Payload) == 0 {
			continue // may stand behind the last byte, where a pointer is not kept
		}
		require.GreaterOrEqual(t, start, from)
		from = start + uintptr(len(item.Payload))
		require.LessOrEqual(t, from, end)
		require.Equal(t, len(item.Payload), cap(item.Payload))
	}
}

// readWellFormed is the oracle: the strict grammar, line by line, as encoding/json sees headers. It
// refuses what ReadEnvelope tolerates (headers over lines, carriage returns, odd lengths, blank
// lines at the end) and says nothing about it.
func readWellFormed(body []byte) ([]framed, error) {
	rest := string(body)
	line := func() string {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		return line
	}
	if _, err := strictObject(line()); err != nil {
		return nil, err
	}
	var items []framed
	for rest != "" {
		header, err := strictObject(line())
		if err != nil {
			return nil, err
		}
		kind, _ := header["type"].(string)
		length, stated := header["length"]
		if !stated {
			items = append(items, framed{ItemType(kind), line()})
			continue
		}
		number, ok := length.(json.Number)
		if !ok || strings.ContainsAny(number.String(), ".eE-") {
			return nil, errors.New("odd length")
		}
		n, err := number.Int64()
		if err != nil || n > int64(len(rest)) {
			return nil, errors.New("length beyond the rest")
		}
		payload := rest[:n]
		switch rest = rest[n:]; {
		case rest == "":
		case rest[0] == '\n':
			rest = rest[1:]
		default:
			return nil, errors.New("no newline after the payload")
		}
		items = append(items, framed{ItemType(kind), payload})
	}
	return items, nil
}

// strictObject decodes an object that fills its line, starts at its first byte, has no key twice
// and is not too deep.
func strictObject(line string) (map[string]any, error) {
	if !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "}") {
		return nil, errors.New("not a JSON object on a line")
	}
	if strings.Count(line, "[")+strings.Count(line, "{") > jsonscan.MaxJSONDepth {
		return nil, errors.New("may be too deep")
	}
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil || d.InputOffset() != int64(len(line)) {
		return nil, fmt.Errorf("not one JSON object: %w", err)
	}
	keys := 0
	d = json.NewDecoder(strings.NewReader(line))
	depth, isKey := 0, false
	for {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			isKey = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
			isKey = depth == 1
			continue
		}
		if depth == 1 {
			if isKey {
				keys++
			}
			isKey = !isKey
		}
	}
	if keys != len(object) {
		return nil, errors.New("a key twice")
	}
	return object, nil
}

func TestReadWellFormedIsAnOracle(t *testing.T) {
	items, err := readWellFormed([]byte("{\"a\":{\"b\":[1,{}]},\"c\":[],\"d\":\"}\"}\n{\"type\":\"x\",\"length\":3}\na\nb\n{\"type\":\"y\"}\n\n{}\nz"))
	require.NoError(t, err)
	require.Equal(t, []framed{{"x", "a\nb"}, {"y", ""}, {"", "z"}}, items)

	for _, refused := range []string{"", "[]", "{} ", "{}\n\n", "{\"a\":1,\"a\":2}", "{}\n{\"length\":1.0}\na", "{}\n{\"length\":2}\na", "{}\r\n"} {
		_, err := readWellFormed([]byte(refused))
		require.Error(t, err, "%q", refused)
	}
}
