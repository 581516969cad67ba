// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

// stored is an item as Relay gives it to Sentry's consumers.
type stored struct {
	project int
	kind    string
	body    map[string]any // of the payload: JSON, or the members of a trace item
	raw     string         // all that the sender can influence
}

// Kinds of trace items (sentry_protos, TraceItemType).
var traceItems = map[uint64]string{1: "span", 3: "log", 8: "trace_metric", 10: "attachment", 12: "session"}

// readStored reads a record (relay-server/src/services/store.rs). Records without a kind are parts
// of others.
func readStored(r record) (stored, error) {
	switch r.topic {
	case "snuba-items":
		return readTraceItem(r.value), nil
	case "outcomes", "outcomes-billing":
		return readJSON("outcome", r.value)
	case "ingest-metrics":
		return readJSON("session metric", r.value)
	case "ingest-spans":
		return readJSON("span", r.value)
	}
	value, rest, err := readMsgpack(r.value)
	message, ok := value.(map[string]any)
	if err != nil || !ok || len(rest) > 0 {
		return stored{}, fmt.Errorf("no MessagePack: %v", err)
	}
	kind, _ := message["type"].(string)
	switch kind {
	case "attachment", "attachment_chunk", "replay_recording_not_chunked":
		return stored{}, nil
	case "event":
		switch r.topic {
		case "ingest-transactions":
			kind = "transaction"
		case "ingest-feedback-events":
			kind = "feedback"
		}
	}
	payload, _ := message["payload"].([]byte)
	s := stored{kind: kind, raw: string(payload)}
	err = json.Unmarshal(payload, &s.body)
	if s.body == nil {
		s.body = map[string]any{}
	}
	s.project = int(number(message["project_id"]))
	if sdk, _ := message["sdk"].(string); sdk != "" { // of a check-in
		s.body["(sdk)"] = sdk
		s.raw += sdk
	}
	return s, err
}

func readJSON(kind string, value []byte) (stored, error) {
	s := stored{kind: kind, raw: string(value)}
	err := json.Unmarshal(value, &s.body)
	s.project = int(number(s.body["project_id"]))
	return s, err
}

func number(value any) float64 {
	switch v := value.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}

// readTraceItem reads a message of sentry_protos, TraceItem.
func readTraceItem(message []byte) stored {
	attributes := map[string]any{}
	s := stored{raw: string(message), body: map[string]any{"attributes": attributes}}
	for f := range wire.Fields(message) {
		switch f.Number {
		case 2:
			s.project = int(f.Varint)
		case 3:
			s.body["trace_id"] = string(f.Bytes)
		case 5:
			s.kind = traceItems[f.Varint]
		case 6:
			seconds, nanos := 0.0, 0.0
			for part := range wire.Fields(f.Bytes) {
				if part.Number == 1 {
					seconds = float64(part.Varint)
				} else {
					nanos = float64(part.Varint)
				}
			}
			s.body["timestamp"] = seconds + nanos/1e9
		case 7:
			var key string
			for part := range wire.Fields(f.Bytes) {
				if part.Number == 1 {
					key = string(part.Bytes)
				} else {
					attributes[key] = anyValue(part.Bytes)
				}
			}
		case 8:
			s.body["client_sample_rate"] = math.Float64frombits(f.Varint)
		}
	}
	return s
}

func anyValue(message []byte) any {
	for f := range wire.Fields(message) {
		switch f.Number {
		case 1:
			return string(f.Bytes)
		case 2:
			return f.Varint != 0
		case 3:
			return float64(int64(f.Varint))
		case 4:
			return math.Float64frombits(f.Varint)
		case 5:
			list := []any{}
			for element := range wire.Within(f.Bytes, protowire.Number(1)) {
				list = append(list, anyValue(element))
			}
			return list
		}
	}
	return nil
}

// remarks returns what ingest changed or removed: the path of each field, and why. Elements of a
// list have one path.
func (s *stored) remarks() (all []string) {
	var visit func(path string, tree any)
	visit = func(path string, tree any) {
		members, _ := tree.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			switch _, notIndex := strconv.Atoi(key); {
			case key == "":
				all = append(all, strings.TrimSpace(s.kind+" "+path+" "+reasonsOf(members[key])))
			case notIndex == nil:
				visit(path+"/*", members[key])
			default:
				visit(path+"/"+key, members[key])
			}
		}
	}
	visit("", s.body["_meta"])
	attributes, _ := s.body["attributes"].(map[string]any)
	for key, value := range attributes {
		if name, ok := strings.CutPrefix(key, "sentry._meta.fields."); ok {
			var meta struct {
				Meta any `json:"meta"`
			}
			text, _ := value.(string)
			_ = json.Unmarshal([]byte(text), &meta)
			visit("/"+strings.Replace(name, "attributes.", "attributes/", 1), meta.Meta)
		}
	}
	return all
}

// reasonsOf returns the rules and errors of a remark.
func reasonsOf(meta any) string {
	members, _ := meta.(map[string]any)
	var reasons []string
	for _, list := range []string{"rem", "err"} {
		elements, _ := members[list].([]any)
		for _, element := range elements {
			parts, ok := element.([]any)
			if !ok {
				parts = []any{element}
			}
			reason := fmt.Sprint(parts[0])
			if data, ok := parts[len(parts)-1].(map[string]any); ok && data["reason"] != nil {
				reason += " (" + fmt.Sprint(data["reason"]) + ")"
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return strings.Join(reasons, ",")
}

var errMsgpack = errors.New("broken MessagePack")

// readMsgpack reads a value (https://github.com/msgpack/msgpack/blob/master/spec.md). Binary data
// is []byte, all integers are int64.
func readMsgpack(in []byte) (value any, rest []byte, err error) {
	if len(in) == 0 {
		return nil, nil, errMsgpack
	}
	head, in := in[0], in[1:]
	size := func(width int) int { // of the value, in the next bytes
		if len(in) < width {
			err = errMsgpack
			return 0
		}
		var wide [8]byte
		copy(wide[8-width:], in[:width])
		in = in[width:]
		return int(binary.BigEndian.Uint64(wide[:]))
	}
	text := func(n int) []byte {
		if n < 0 || n > len(in) {
			err = errMsgpack
			return nil
		}
		content := in[:n]
		in = in[n:]
		return content
	}
	list := func(n int) (elements []any) {
		for ; n > 0 && err == nil; n-- {
			var element any
			element, in, err = readMsgpack(in)
			elements = append(elements, element)
		}
		return elements
	}
	members := func(n int) map[string]any {
		all, object := list(2*n), map[string]any{}
		for i := 1; i < len(all); i += 2 {
			object[fmt.Sprint(all[i-1])] = all[i]
		}
		return object
	}
	switch {
	case head < 0x80 || head >= 0xe0:
		value = int64(int8(head))
	case head < 0x90:
		value = members(int(head & 0xf))
	case head < 0xa0:
		value = list(int(head & 0xf))
	case head < 0xc0:
		value = string(text(int(head & 0x1f)))
	case head == 0xc0:
	case head == 0xc2, head == 0xc3:
		value = head == 0xc3
	case head >= 0xc4 && head <= 0xc6:
		value = text(size(1 << (head - 0xc4)))
	case head == 0xca:
		value = float64(math.Float32frombits(uint32(size(4))))
	case head == 0xcb:
		value = math.Float64frombits(uint64(size(8)))
	case head >= 0xcc && head <= 0xcf:
		value = int64(size(1 << (head - 0xcc)))
	case head >= 0xd0 && head <= 0xd3:
		width := 1 << (head - 0xd0)
		shift := 64 - 8*width
		value = int64(size(width)) << shift >> shift
	case head >= 0xd9 && head <= 0xdb:
		value = string(text(size(1 << (head - 0xd9))))
	case head == 0xdc, head == 0xdd:
		value = list(size(2 << (head - 0xdc)))
	case head == 0xde, head == 0xdf:
		value = members(size(2 << (head - 0xde)))
	default:
		err = errMsgpack
	}
	return value, in, err
}
