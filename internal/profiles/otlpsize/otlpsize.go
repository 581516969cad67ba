// SPDX-License-Identifier: Apache-2.0

// Package otlpsize estimates the memory of an OTLP message before it is decoded. An empty span of
// two bytes uses 230 bytes in memory, and each level of nesting needs a stack frame of the decoder.
package otlpsize

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

// Max is the maximum memory of a decoded message, in bytes. Readers may decode a message twice, and
// the heap then holds both.
const Max = 320 << 20

const (
	// maxDepth is the maximum depth of messages. The decoder of JSON is recursive without a limit;
	// encoding/json has the same one.
	maxDepth = 10_000

	// perByte is the memory of one byte of texts and of unpacked times.
	perByte = 2

	// pointer is the memory of an element in a list of pointers, which the decoder grows by 25 %
	// and copies.
	pointer = 18
)

// Message is a type of message, or a list of numbers.
type Message struct {
	memory int // of each, in bytes
	packed bool
	fields fields
}

type fields map[protowire.Number]*Message

var (
	// ErrLimit is the error of a message that is not decoded because it would need too much memory.
	ErrLimit = errors.New("it exceeds a limit of the decoder")

	// ErrDamaged is the error of a message that is not encoded correctly.
	ErrDamaged = errors.New("its encoding is damaged")

	errDepth = fmt.Errorf("%w: it is nested more than %d levels deep", ErrLimit, maxDepth)
)

// Check returns ErrLimit if a decoded message would need more memory than Max, or is nested too
// deep. It returns ErrDamaged if it cannot count all of it.
func (m *Message) Check(data []byte) error {
	memory, err := m.Estimate(data, math.MaxInt)
	if err == nil && memory > Max {
		err = fmt.Errorf("%w: it needs %d MiB of memory, more than %d", ErrLimit, memory>>20, Max>>20)
	}
	return err
}

// Estimate returns the memory of a decoded message. Above the limit, it stops to count. The errors
// are those of Check.
func (m *Message) Estimate(data []byte, limit int) (memory int, err error) {
	memory, err = m.estimate(data, 0, limit)
	return memory + perByte*len(data), err
}

const (
	// perBrace is the memory of the largest message. Each has a brace in JSON, or is the first of a
	// damaged list.
	perBrace = 208 + 2*pointer

	// perComma is the memory of an element in a list of numbers or texts.
	perComma = 40

	// shortElement is the length of null, which the decoder accepts as a message.
	shortElement = 4
)

// EstimateJSON returns an upper bound of the memory of a decoded OTLP/JSON message. Above the
// limit, it stops to count. The error is ErrLimit if the message is nested too deep.
//
// The decoder (jsoniter) continues after an error, one byte further, and may then read a text as
// messages: one for each comma of [",0,0,0"], and for each bracket. Therefore, braces, brackets and
// commas of texts count as well, and short elements count as messages.
func EstimateJSON(data []byte, limit int) (memory int, err error) {
	memory = perByte * len(data)
	depth, text := 0, false
	element := shortElement + 1 // length since the last comma or bracket, or the begin of a text
	for i := 0; i < len(data) && memory <= limit; i++ {
		c := data[i]
		switch c {
		case ' ', '\n', '\r', '\t':
			continue
		case '{':
			memory += perBrace
		case ',', '[':
			if memory += perComma; c == '[' {
				memory += perBrace
			}
			if element <= shortElement {
				memory += perBrace
			}
			if text && element == 0 { // the quote before it was an element, too
				memory += perBrace
			}
		}
		element++
		switch {
		case c == '"':
			if text = !text; text {
				element = 0
			} else {
				element = shortElement + 1
			}
		case c == ',':
			element = 0
		case c == '[':
			element = 0
			fallthrough
		case c == '{':
			if text {
				break
			}
			if depth++; depth > maxDepth {
				return 0, errDepth
			}
		case text && c == '\\' && i+1 < len(data) && (data[i+1] == '"' || data[i+1] == '\\'):
			i++
		case !text && (c == '}' || c == ']'):
			depth--
		}
	}
	return memory, nil
}

// EstimateTexts returns an upper bound of the memory of values that are parsed from the texts of a
// message in protobuf, if these are JSON. EstimateJSON includes it.
func EstimateTexts(data []byte) int {
	count := func(c string) int { return bytes.Count(data, []byte(c)) }
	return perBrace*(count("{")+count("[")) + perComma*count(",")
}

// estimate returns the memory of the messages and numbers in a message.
func (m *Message) estimate(data []byte, depth, limit int) (memory int, err error) {
	if depth > maxDepth {
		return 0, errDepth
	}
	message := wire.Message{Rest: data}
	for memory <= limit && message.Next() {
		switch child := m.fields[message.Number]; {
		case child == nil:
		case message.Bytes != nil && child.packed:
			memory += child.memory * len(message.Bytes)
		case message.Bytes != nil && child.fields != nil:
			inner, err := child.estimate(message.Bytes, depth+1, limit-memory)
			if err != nil {
				return 0, err
			}
			memory += child.memory + inner
		default:
			memory += child.memory
		}
	}
	if message.Broken {
		return 0, ErrDamaged
	}
	return memory, nil
}

// HasDictionary reports whether a message has profiles.
func HasDictionary(message []byte) bool {
	for f := range wire.Fields(message) {
		if f.Number == dictionaryField {
			return true
		}
	}
	return false
}
