// SPDX-License-Identifier: Apache-2.0

// Package sentrytest reads profile payloads a second time, slowly and independently of the decoder:
// with encoding/json, exact fractions and plain structs. Tests hold the decoder, the translation
// and the built collector against it. encoding/json validates a payload, which is then split at its
// brackets and commas.
package sentrytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Profile is what a payload says about samples: those that decode and whose stack exists, in the
// order they were sent.
type Profile struct {
	Samples []Sample
	Lost    map[string]int // by discard reason
	Frames  int            // as sent, duplicates included
	Stacks  int
}

// Sample is one observation with everything it refers to spelled out.
type Sample struct {
	Time       uint64 // nanoseconds: since 1970 in V2, since the anchor in V1
	Thread     string
	ThreadName string
	Priority   string // as JSON text
	Queue      string
	QueueLabel string
	Stack      []Frame // leaf first
}

// Frame is one frame; empty text and zero are "not sent".
type Frame struct {
	Function, Module, Filename, AbsPath, Package, Platform string
	Line, Column                                           uint32
	Address                                                uint64
	InApp                                                  string // true, false or ""
}

func (f Frame) String() string {
	return f.Function + "|" + f.Module + "|" + f.Filename + "|" + f.AbsPath + "|" + f.Package + "|" + f.Platform + "|" +
		strconv.FormatUint(uint64(f.Line), 10) + ":" + strconv.FormatUint(uint64(f.Column), 10) + "|" + strconv.FormatUint(f.Address, 16) + "|" + f.InApp
}

// StackText is the stack as one text, leaf first.
func (s Sample) StackText() string {
	var b strings.Builder
	for _, f := range s.Stack {
		b.WriteString(f.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Member is one member of a JSON object.
type Member struct {
	Key   string
	Value json.RawMessage
}

// members returns the members of an object in wire order, including repeated keys. The text is
// valid JSON.
func members(object []byte) (all []Member, isObject bool) {
	if len(object) == 0 || object[0] != '{' {
		return nil, false
	}
	for at := afterSpace(object, 1); object[at] != '}'; {
		end := valueEnd(object, at)
		key := textOf(object[at:end])
		at = afterSpace(object, afterSpace(object, end)+1)
		end = valueEnd(object, at)
		all = append(all, Member{key, object[at:end:end]})
		at = afterComma(object, end)
	}
	return all, true
}

// elements returns the elements of an array. The text is valid JSON.
func elements(array []byte) (all []json.RawMessage, isArray bool) {
	if len(array) == 0 || array[0] != '[' {
		return nil, false
	}
	for at := afterSpace(array, 1); array[at] != ']'; {
		end := valueEnd(array, at)
		all = append(all, array[at:end:end])
		at = afterComma(array, end)
	}
	return all, true
}

// valueEnd returns the end of the value that begins at an index.
func valueEnd(text []byte, at int) int {
	for depth := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at // of the outer value
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
		}
	}
	return at
}

func afterSpace(text []byte, at int) int {
	for strings.IndexByte(" \t\r\n", text[at]) >= 0 {
		at++
	}
	return at
}

// afterComma returns the begin of the next element, or of the closing bracket.
func afterComma(text []byte, at int) int {
	if at = afterSpace(text, at); text[at] == ',' {
		at = afterSpace(text, at+1)
	}
	return at
}

// ReadItem reads the payload of an item by its type.
func ReadItem(itemType string, payload []byte) (*Profile, error) {
	if itemType == "profile" {
		return Read(1, payload)
	}
	return Read(2, payload)
}

// Read reads the payload of a profile item (format 1) or of a profile_chunk item (format 2).
func Read(format int, payload []byte) (*Profile, error) {
	if !json.Valid(payload) {
		return nil, errors.New("invalid JSON")
	}
	top, ok := members(bytes.TrimLeft(payload, " \n\r\t"))
	if !ok {
		return nil, errors.New("not an object")
	}
	key := "profile"
	if slices.ContainsFunc(top, func(m Member) bool { return m.Key == "sampled_profile" }) {
		key = "js_profile" // of React Native, beside a trace of Android
	}
	parts := map[string]json.RawMessage{}
	for _, m := range top {
		if m.Key != key {
			continue
		}
		inner, _ := members(m.Value)
		for _, part := range inner {
			parts[part.Key] = part.Value
		}
	}
	p := &Profile{Lost: map[string]int{}}
	p.read(format, parts)
	return p, nil
}

func (p *Profile) read(format int, parts map[string]json.RawMessage) {
	frameTexts, _ := elements(parts["frames"])
	stackTexts, _ := elements(parts["stacks"])
	sampleTexts, _ := elements(parts["samples"])
	threads, queues := metadata(parts["thread_metadata"]), metadata(parts["queue_metadata"])
	p.Frames, p.Stacks = len(frameTexts), len(stackTexts)

	frames := make([]*Frame, len(frameTexts))
	for i, text := range frameTexts {
		frames[i] = readFrame(text)
	}
	stacks := make([][]Frame, len(stackTexts))
	exists := make([]bool, len(stackTexts))
	for i, text := range stackTexts {
		stacks[i], exists[i] = readStack(text, frames)
	}
	for _, text := range sampleTexts {
		sample, stack, lost := readSample(format, text)
		switch {
		case lost != "":
			p.Lost[lost]++
			continue
		case stack >= uint64(len(stacks)):
			p.Lost["profiling_malformed_samples"]++
			continue
		case !exists[stack]:
			p.Lost["profiling_malformed_stacks"]++
			continue
		}
		sample.Stack = stacks[stack]
		sample.ThreadName, sample.Priority = textOf(threads[sample.Thread]["name"]), numberOf(threads[sample.Thread]["priority"])
		sample.QueueLabel = textOf(queues[sample.Queue]["label"])
		p.Samples = append(p.Samples, sample)
	}
}

// metadata reads an object of objects; the last of equal keys counts.
func metadata(text json.RawMessage) map[string]map[string]json.RawMessage {
	all := map[string]map[string]json.RawMessage{}
	entries, _ := members(text)
	for _, entry := range entries {
		fields := map[string]json.RawMessage{}
		inner, _ := members(entry.Value)
		for _, m := range inner {
			// encoding/json, which reads these in the decoder, takes keys in any case.
			fields[strings.ToLower(m.Key)] = m.Value
		}
		all[entry.Key] = fields
	}
	return all
}

func readStack(text json.RawMessage, frames []*Frame) (stack []Frame, exists bool) {
	indices, ok := elements(text)
	if !ok { // also null, as in the decoder
		return nil, false
	}
	for _, index := range indices {
		i, ok := indexOf(index)
		if !ok || i >= uint64(len(frames)) || frames[i] == nil {
			return nil, false
		}
		stack = append(stack, *frames[i])
	}
	return stack, true
}

func readSample(format int, text json.RawMessage) (sample Sample, stack uint64, lost string) {
	all, ok := members(text)
	if !ok {
		return sample, 0, "profiling_invalid_json"
	}
	var timed, outOfRange, threaded, stacked bool
	for _, m := range all {
		switch {
		case m.Key == "timestamp" && format == 2:
			sample.Time, timed, outOfRange = unixNanos(m.Value)
		case m.Key == "elapsed_since_start_ns" && format == 1:
			digits := scalarOf(m.Value)
			value, ok := new(big.Int).SetString(digits, 10)
			timed = ok && allDigits.MatchString(digits) && value.IsUint64()
			outOfRange = timed && value.Cmp(maxNanos) >= 0
			if timed {
				sample.Time = value.Uint64()
			}
		}
		switch m.Key {
		case "thread_id":
			sample.Thread = scalarOf(m.Value)
			isNumber := m.Value[0] == '-' || m.Value[0]-'0' <= 9
			threaded = m.Value[0] == '"' || isNumber && !strings.ContainsAny(sample.Thread, ".eE")
		case "stack_id":
			stack, stacked = indexOf(m.Value)
		case "queue_address":
			sample.Queue = textOf(m.Value)
		}
	}
	switch {
	case outOfRange:
		return sample, 0, "sample_time_out_of_range"
	case !timed || !threaded:
		return sample, 0, "profiling_invalid_json"
	case !stacked:
		return sample, 0, "profiling_malformed_samples"
	}
	return sample, stack, ""
}

func readFrame(text json.RawMessage) *Frame {
	all, ok := members(text)
	if !ok {
		return nil
	}
	f := &Frame{}
	for _, m := range all {
		switch m.Key {
		case "function", "name":
			f.Function = textOf(m.Value)
		case "module":
			f.Module = textOf(m.Value)
		case "filename", "file":
			f.Filename = textOf(m.Value)
		case "abs_path":
			f.AbsPath = textOf(m.Value)
		case "package":
			f.Package = textOf(m.Value)
		case "platform":
			f.Platform = textOf(m.Value)
		case "lineno", "line":
			f.Line = uint32(uintOf(m.Value, 32))
		case "colno", "column":
			f.Column = uint32(uintOf(m.Value, 32))
		case "instruction_addr":
			f.Address = addressOf(m.Value)
		case "in_app":
			if f.InApp = string(m.Value); f.InApp != "true" && f.InApp != "false" {
				f.InApp = ""
			}
		}
	}
	return f
}

var (
	allDigits = regexp.MustCompile(`^[0-9]+$`)
	// Times are good for 2^33 seconds from 1970.
	maxNanos = new(big.Int).Mul(new(big.Int).Lsh(big.NewInt(1), 33), big.NewInt(1_000_000_000))
)

// unixNanos is the exact decimal value in nanoseconds, rounded half up.
func unixNanos(value json.RawMessage) (nanos uint64, ok, outOfRange bool) {
	text := scalarOf(value)
	if !json.Valid([]byte(text)) || !strings.ContainsAny(text[:1], "-0123456789") {
		return 0, false, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if e, err := strconv.Atoi("0" + strings.TrimLeft(exponent, "+-")); exponent != "" && (err != nil || e > 10_000) {
		if strings.Trim(mantissa, "-0.") == "" || exponent[0] == '-' && mantissa[0] != '-' {
			return 0, true, false
		}
		return 0, true, true
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false, false
	}
	if r.Sign() < 0 {
		return 0, true, true
	}
	r.Mul(r, big.NewRat(1_000_000_000, 1))
	r.Add(r, big.NewRat(1, 2))
	whole := new(big.Int).Quo(r.Num(), r.Denom())
	if whole.Cmp(maxNanos) >= 0 {
		return 0, true, true
	}
	return whole.Uint64(), true, false
}

func indexOf(value json.RawMessage) (uint64, bool) {
	i, err := strconv.ParseUint(string(value), 10, 31)
	return i, err == nil && i < 1<<31-1
}

func uintOf(value json.RawMessage, bits int) uint64 {
	i, err := strconv.ParseUint(scalarOf(value), 10, bits)
	if err != nil {
		return 0
	}
	return i
}

func addressOf(value json.RawMessage) uint64 {
	text, base := scalarOf(value), 10
	if strings.HasPrefix(strings.ToLower(text), "0x") {
		text, base = text[2:], 16
	}
	address, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		return 0
	}
	return address
}

// scalarOf is the content of a string, or the text of anything else.
func scalarOf(value json.RawMessage) string {
	if value[0] == '"' {
		return textOf(value)
	}
	return string(value)
}

// textOf is the content of a string, "" for anything else.
func textOf(value json.RawMessage) string {
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	inner := value[1 : len(value)-1]
	if !bytes.ContainsFunc(inner, func(r rune) bool { return r == '\\' || r > '~' }) {
		return string(inner) // without escapes and invalid UTF-8
	}
	var text string
	_ = json.Unmarshal(value, &text)
	return text
}

// numberOf is the text of a whole number, "" for anything else.
func numberOf(value json.RawMessage) string {
	if _, err := strconv.ParseInt(string(value), 10, 64); err != nil {
		return ""
	}
	return string(value)
}
