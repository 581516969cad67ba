// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

// A request of OTLP 1.7 differs from a current one as follows:
//
//   - A profile has one list of locations, and each sample refers to a range of it. There is no
//     table of stacks.
//   - A profile has several sample types, and a sample has one value for each. It becomes one
//     profile per type; only the first one keeps the ID and the original payload.
//   - Units belong to the keys of attributes, and keys are inline text.
//   - Entry 0 of a table is an ordinary entry. This file inserts an empty entry before it.
//   - Flags of mappings and locations, comments, and the default sample type have no successor and
//     are omitted.

// fromRanges translates a request of OTLP 1.7. The result has at most limit bytes.
func fromRanges(request []byte, limit int) ([]byte, error) {
	t := &ranges{stacks: map[string]uint64{"": 0}, output: allowance.Of(limit)}
	var dictionary []byte
	for f := range wire.Within(request, 2) {
		if dictionary != nil {
			return nil, errors.New("it has several dictionaries")
		}
		dictionary = f
	}
	tables := tables1_7(dictionary)
	var out []byte
	for resource := range wire.Within(request, 1) {
		translated, err := t.resource(resource)
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, 1, translated)
	}
	for _, stack := range t.order {
		tables = appendBytes(tables, 7, []byte(stack))
	}
	out = appendBytes(out, 2, tables)
	if len(out) > limit {
		return nil, errTooLarge
	}
	return out, nil
}

var errTooLarge = errors.New("it becomes too large")

// ranges is the state of a translation.
type ranges struct {
	stacks map[string]uint64 // the index of an encoded stack
	order  []string
	output allowance.Allowance // ranges of a list may overlap, so even a small request can have large stacks
}

// tables1_7 translates the dictionary, without stacks.
func tables1_7(dictionary []byte) (out []byte) {
	unchanged := func(entry []byte) []byte { return entry }
	for i, translated := range []func([]byte) []byte{mapping, location, unchanged, unchanged} {
		number := protowire.Number(i + 1)
		out = appendBytes(out, number, nil)
		for entry := range wire.Within(dictionary, number) {
			out = appendBytes(out, number, translated(entry))
		}
	}
	return appendBytes(appendAttributes(out, dictionary), 7, nil)
}

// appendAttributes appends the tables of strings and of attributes.
func appendAttributes(out, dictionary []byte) []byte {
	keys, texts := map[string]uint64{}, uint64(0)
	for text := range wire.Within(dictionary, 5) {
		out = appendBytes(out, 5, text)
		if _, ok := keys[string(text)]; !ok {
			keys[string(text)] = texts
		}
		texts++
	}
	units := map[uint64]uint64{}
	for unit := range wire.Within(dictionary, 7) {
		key, value := uint64(0), uint64(0)
		for f := range wire.Fields(unit) {
			switch f.Number {
			case 1:
				key = f.Varint
			case 2:
				value = f.Varint
			}
		}
		units[key] = value
	}
	out = appendBytes(out, 6, nil)
	for entry := range wire.Within(dictionary, 6) {
		var key string
		var value []byte
		for f := range wire.Fields(entry) {
			switch f.Number {
			case 1:
				key = string(f.Bytes)
			case 2:
				value = f.Bytes
			}
		}
		index, ok := keys[key]
		if !ok {
			index = texts
			keys[key] = index
			out = appendBytes(out, 5, []byte(key))
			texts++
		}
		attribute := appendBytes(appendVarint(nil, 1, index), 2, value)
		if unit := units[index]; unit != 0 {
			attribute = appendVarint(attribute, 3, unit)
		}
		out = appendBytes(out, 6, attribute)
	}
	return out
}

func mapping(old []byte) (out []byte) {
	for f := range wire.Fields(old) {
		switch f.Number {
		case 1, 2, 3, 4:
			out = appendField(out, f.Number, f)
		case 5:
			out = appendPacked(out, 5, shifted(f))
		}
	}
	return out
}

func location(old []byte) (out []byte) {
	for f := range wire.Fields(old) {
		switch f.Number {
		case 1: // absent: no mapping
			out = appendVarint(out, 1, f.Varint+1)
		case 2:
			out = appendField(out, 2, f)
		case 3:
			out = appendBytes(out, 3, line(f.Bytes))
		case 5:
			out = appendPacked(out, 4, shifted(f))
		}
	}
	return out
}

func line(old []byte) (out []byte) {
	function := uint64(0)
	for f := range wire.Fields(old) {
		switch f.Number {
		case 1:
			function = f.Varint
		case 2, 3:
			out = appendField(out, f.Number, f)
		}
	}
	return appendVarint(out, 1, function+1)
}

// shifted returns the indices of a list in tables with an empty first entry.
func shifted(f wire.Field) (indices []int32) {
	for i := range f.Varints() {
		indices = append(indices, int32(i)+1)
	}
	return indices
}

func (t *ranges) resource(old []byte) (out []byte, err error) {
	for f := range wire.Fields(old) {
		if f.Number != 2 {
			out = appendField(out, f.Number, f)
			continue
		}
		scope, err := t.scope(f.Bytes)
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, 2, scope)
	}
	return out, nil
}

func (t *ranges) scope(old []byte) (out []byte, err error) {
	for f := range wire.Fields(old) {
		if f.Number != 2 {
			out = appendField(out, f.Number, f)
			continue
		}
		profiles, err := t.profile(f.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, profiles...)
	}
	return out, nil
}

// profile translates a profile to one profile per sample type.
func (t *ranges) profile(old []byte) (out []byte, err error) {
	var head, first []byte // fields of all new profiles, and of the first one only
	var types [][]byte
	var locations []int32
	for f := range wire.Fields(old) {
		switch f.Number {
		case 1:
			types = append(types, f.Bytes)
		case 3:
			locations = append(locations, shifted(f)...)
		case 4:
			head = appendFixed64(head, 3, f.Varint)
		case 5:
			head = appendField(head, 4, f)
		case 6:
			head = appendField(head, 5, f)
		case 7:
			head = appendField(head, 6, f)
		case 14:
			head = appendPacked(head, 11, shifted(f))
		case 10, 11, 12, 13:
			first = appendField(first, f.Number-3, f)
		}
	}
	known := map[[2]uint64]uint64{}
	for i, sampleType := range types {
		profile := appendBytes(nil, 1, sampleType)
		for sample := range wire.Within(old, 2) {
			translated, err := t.sample(sample, i, len(types), locations, known)
			if err != nil {
				return nil, err
			}
			profile = appendBytes(profile, 2, translated)
		}
		profile = append(profile, head...)
		if i == 0 {
			profile = append(profile, first...)
		}
		if err := t.output.Demand(len(head), errTooLarge); err != nil {
			return nil, err
		}
		out = appendBytes(out, 2, profile)
	}
	return out, nil
}

// sample translates a sample for one of its sample types.
func (t *ranges) sample(old []byte, of, types int, locations []int32, known map[[2]uint64]uint64) (out []byte, err error) {
	var at [2]uint64 // start and length
	var values, times []uint64
	for f := range wire.Fields(old) {
		switch f.Number {
		case 1, 2:
			at[f.Number-1] = f.Varint
		case 3:
			values = slices.AppendSeq(values, f.Varints())
		case 4:
			out = appendPacked(out, 2, shifted(f))
		case 5: // absent: no link
			out = appendVarint(out, 3, f.Varint+1)
		case 6:
			times = slices.AppendSeq(times, f.Varints())
		}
	}
	stack, ok := known[at]
	if !ok {
		if stack, err = t.stack(at[0], at[1], locations); err != nil {
			return nil, err
		}
		known[at] = stack
	}
	out = appendVarint(out, 1, stack)
	switch {
	case types == 1 && len(times) > 0 && (len(values) == 0 || len(values) == 1 && (values[0] == 1 || values[0] == uint64(len(times)))):
		// Each time is one observation. The eBPF profiler wrote the value 1, regardless of the
		// number of times.
	case len(values) == types && len(times) <= 1:
		out = appendPacked(out, 4, values[of:of+1])
	case types == 1 && len(values) == len(times): // a value for each time
		out = appendPacked(out, 4, values)
	default:
		return nil, fmt.Errorf("a sample has %d values and %d times for %d sample types", len(values), len(times), types)
	}
	if len(times) > 0 {
		out = protowire.AppendVarint(protowire.AppendTag(out, 5, protowire.BytesType), uint64(8*len(times)))
		for _, time := range times {
			out = protowire.AppendFixed64(out, time)
		}
	}
	return out, t.output.Demand(len(out), errTooLarge)
}

// stack returns the index of a range of locations in the table of stacks. It adds the stack if it
// is new.
func (t *ranges) stack(start, length uint64, locations []int32) (uint64, error) {
	if n := uint64(len(locations)); start > n || length > n-start {
		return 0, fmt.Errorf("a stack has %d locations from %d, of %d", length, start, n)
	}
	if err := t.output.Demand(int(length), errTooLarge); err != nil {
		return 0, err
	}
	stack := string(appendPacked(nil, 1, locations[start:start+length]))
	i, ok := t.stacks[stack]
	if !ok {
		i = uint64(len(t.order)) + 1
		t.stacks[stack] = i
		t.order = append(t.order, stack)
	}
	return i, nil
}
