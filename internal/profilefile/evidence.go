// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// evidence is the structure of a file, which determines its format. The texts in it are no
// evidence: a profile may name any function.
type evidence struct {
	data  []byte
	begin []byte // of the data
	text  bool   // it begins with lines of text
	json  []members
	proto protoKind
	// framed: each message has a prefix with its length, see frames.
	framed bool
}

// beginBytes is the number of bytes of a text that are examined.
const beginBytes = 1 << 16

func examine(data []byte) *evidence {
	e := &evidence{data: data, begin: data[:min(len(data), beginBytes)]}
	content := data
	if first, framed := firstFrame(data); framed {
		e.framed, content = true, first
	}
	switch {
	case isJSON(content):
		e.json = membersOf(content)
	case isText(e.begin):
		e.text = len(bytes.TrimSpace(e.begin)) > 0
	default:
		e.proto = protoKindOf(content)
	}
	return e
}

// describe describes the content of a file that has no known format.
func (e *evidence) describe() string {
	switch {
	case len(e.data) == 0:
		return "it is empty"
	case e.json != nil && len(e.json[0].top) > 0:
		return fmt.Sprintf("JSON with %q", e.json[0].top)
	case e.json != nil:
		return "JSON without members"
	case e.text:
		line, _, _ := bytes.Cut(bytes.TrimSpace(e.begin), []byte("\n"))
		return fmt.Sprintf("text that begins with %q", line[:min(len(line), 60)])
	}
	return fmt.Sprintf("binary data that begin with % x", e.data[:min(len(e.data), 8)])
}

// isText reports whether a file begins with lines of text. Protocol Buffers contain bytes below the
// space character.
func isText(begin []byte) bool {
	return !bytes.ContainsFunc(begin, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}

// isJSON reports whether a file begins with an object or a list. Lines of collapsed stacks may
// begin with a bracket, too: {main} is a frame of PHP, [unknown] one of perf.
func isJSON(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return false
	}
	next := bytes.TrimLeft(data[1:], " \t\r\n")
	if len(next) == 0 {
		return true
	}
	return next[0] == '"' || next[0] == data[0]+2 || data[0] == '[' && (next[0] == '{' || next[0] == '[')
}

// members are the places of members in a JSON value: "meta" at the top, "meta.version" of an
// object, "nodes[].id" of the first object in a list, and "[].ph" if the value itself is a list.
type members struct {
	top    []string // the first ones at the top, in their order
	places map[string]bool
	schema string // the text of $schema
}

const (
	maxTopValues = 2 // values at the top that are examined: an envelope has its first item in the second
	maxPlaces    = 512
	maxKey       = 64
	maxTop       = 6
	placeDepth   = 3
)

// structure iterates over the bytes of JSON outside of texts and white space, with their positions;
// a text is its first quote. It does not check the grammar.
func structure(data []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for at := 0; at < len(data); at++ {
			c := data[at]
			if jsonscan.IsSpace(c) {
				continue
			}
			if !yield(at, c) {
				return
			}
			if c == '"' {
				at = textEnd(data, at)
			}
		}
	}
}

// textEnd returns the position of the quote at the end of a text, or of the end of the data. It
// accepts control characters, which JSON does not permit.
func textEnd(data []byte, quote int) int {
	for at := jsonscan.NextSpecial(data, quote+1); at < len(data); at = jsonscan.NextSpecial(data, at+1) {
		switch data[at] {
		case '"':
			return at
		case '\\':
			at++
		}
	}
	return len(data)
}

// level is an object or a list.
type level struct {
	list   bool
	seen   bool   // the first element of the list
	ignore bool   // its members are not wanted
	prefix string // of their places
	key    string // the current one
}

// membersOf returns the members of the first values, of any depth. It reads damaged JSON up to the
// damage.
func membersOf(data []byte) (values []members) {
	var levels [placeDepth + 1]level
	depth := 0
	for at, c := range structure(data) {
		opens := c == '{' || c == '['
		if depth == 0 {
			if !opens || len(values) == maxTopValues {
				break
			}
			values = append(values, members{places: map[string]bool{}})
		}
		m, in := &values[len(values)-1], &levels[min(depth, placeDepth)]
		switch {
		case opens:
			if depth++; depth <= placeDepth {
				levels[depth] = inside(&levels[depth-1], c == '[', depth == 1)
			}
		case c == '}', c == ']':
			depth--
		case c == ',':
			in.seen = true
		case c == '"' && depth <= placeDepth && !in.ignore && !in.list:
			end := textEnd(data, at)
			switch text := data[at+1 : end]; {
			case isKey(data[min(end+1, len(data)):]):
				in.key = string(text[:min(len(text), maxKey)])
				m.add(in.prefix+in.key, depth)
			case depth == 1 && in.key == "$schema":
				m.schema = string(text[:min(len(text), 2*maxKey)])
			}
		}
	}
	return values
}

// inside returns the level of a value in another one.
func inside(outer *level, list, top bool) level {
	in := level{list: list, prefix: outer.prefix}
	switch {
	case top:
	case outer.list:
		in.ignore = outer.ignore || outer.seen || list
	default:
		in.ignore = outer.ignore
		in.prefix += outer.key
	}
	switch {
	case list:
		in.prefix += "[]"
	case !top:
		in.prefix += "."
	}
	return in
}

// isKey reports whether a colon follows a text.
func isKey(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

func (m *members) add(place string, depth int) {
	if len(m.places) == maxPlaces {
		return
	}
	if depth == 1 && len(m.top) < maxTop && !m.places[place] {
		m.top = append(m.top, place)
	}
	m.places[place] = true
}

// has reports whether the value has a member. An empty object before it is a message without data.
func (e *evidence) has(place string) bool {
	i := slices.IndexFunc(e.json, func(m members) bool { return len(m.places) > 0 })
	return i >= 0 && e.json[i].places[place]
}

func isOTLPJSON(e *evidence) bool {
	return has("resourceProfiles", "resourceSpans", "resourceLogs", "resourceMetrics",
		"resource_profiles", "resource_spans", "resource_logs", "resource_metrics", "dictionary.stringTable", "dictionary.string_table")(e)
}

func isSpeedscope(e *evidence) bool {
	return len(e.json) > 0 && strings.Contains(e.json[0].schema, "speedscope.app/file-format-schema") || e.has("shared.frames") && e.has("profiles")
}

// isFirefox also accepts profiles of Gecko, which have no preprocessedProfileVersion: the reader
// explains how to convert them.
func isFirefox(e *evidence) bool {
	return e.has("meta.preprocessedProfileVersion") || e.has("threads") && has("meta.version", "meta.interval")(e)
}

func isCPUProfile(e *evidence) bool {
	return e.has("nodes[].callFrame") || e.has("head.functionName") || e.has("samples") && e.has("timeDeltas") || e.has("nodes") && has("samples", "timeDeltas", "endTime")(e) && !e.has("snapshot")
}

// isSentry reports whether a file is an envelope, which has a header and a header for each item, or
// an event of an older SDK, which has no envelope.
func isSentry(e *evidence) bool {
	if len(e.json) == 0 {
		return false
	}
	header := has("event_id", "dsn", "sdk", "sent_at", "trace")(e)
	if len(e.json) > 1 && e.json[1].places["type"] && (header || len(e.json[0].places) == 0) {
		return true
	}
	return header || e.isEvent()
}

// isEvent reports whether JSON is an event without an envelope. Every event has a platform, which
// no header has.
func (e *evidence) isEvent() bool { return len(e.json) > 0 && e.json[0].places["platform"] }

// isCollapsed reports whether most lines have a stack and a weight.
func isCollapsed(e *evidence) bool {
	if !e.text {
		return false
	}
	weighted, others := 0, 0
	begin := e.begin
	if i := bytes.LastIndexByte(begin, '\n'); i > 0 && len(e.data) > len(begin) {
		begin = begin[:i] // whole lines
	}
	for line := range bytes.Lines(begin) {
		line = bytes.TrimSpace(line)
		i := bytes.LastIndexAny(line, " \t")
		switch {
		case len(line) == 0 || line[0] == '#':
		case i > 0 && isNumber(line[i+1:]):
			weighted++
		default:
			others++
		}
	}
	return weighted > 0 && weighted >= others
}

// isNumber reports whether a word is a weight. Tools write weights as integers, fractions, or with
// a decimal point at the end.
func isNumber(word []byte) bool {
	return len(bytes.Trim(word, "+-.0123456789eE")) == 0 && bytes.ContainsAny(word, "0123456789")
}

// protoKind is a type of Protocol Buffers.
type protoKind int

const (
	protoNone protoKind = iota
	protoOTLP
	protoPprof
	protoPerfetto
)

func isOTLPProto(e *evidence) bool { return e.proto == protoOTLP }
func isPprof(e *evidence) bool     { return e.proto == protoPprof && !e.framed }
func isPerfetto(e *evidence) bool  { return e.proto == protoPerfetto && !e.framed }

// protoKindOf distinguishes the types by the first field that only one of them has:
//
//	field   OTLP                            pprof                   Perfetto
//	1       resource: messages 1–3, 1000    type: numbers 1–2       packet: others
//	2       dictionary                      sample
//	3–8     tables of OTLP 1.6              mapping … keep_frames
//	9–15                                    numbers, comments
func protoKindOf(data []byte) protoKind {
	var has [16]bool
	for rest := data; len(rest) > 0; {
		number, kind, tag := protowire.ConsumeTag(rest)
		if tag < 0 || kind != protowire.BytesType && kind != protowire.VarintType {
			return protoNone
		}
		if number < protowire.Number(len(has)) { // not one of a later version
			has[number] = true
		}
		if number == 1 && kind == protowire.BytesType {
			if found := protoKindOfFirst(cutBytes(rest[tag:])); found != protoNone {
				return found
			}
		}
		n := protowire.ConsumeFieldValue(number, kind, rest[tag:])
		if n < 0 && (kind != protowire.BytesType || len(rest) == len(data) && number != 2) {
			return protoNone
		}
		if n < 0 { // the end is missing; the collector writes the dictionary first
			break
		}
		rest = rest[tag+n:]
	}
	switch {
	case slices.Contains(has[9:], true), has[6]:
		return protoPprof
	case has[1], has[2]:
		return protoOTLP
	}
	return protoNone
}

// cutBytes returns a field of bytes, or its beginning if the end is missing.
func cutBytes(data []byte) []byte {
	size, n := protowire.ConsumeVarint(data)
	if n < 0 {
		return nil
	}
	return data[n:][:min(size, uint64(len(data)-n))]
}

// protoKindOfFirst distinguishes the types by a message in field 1. It may have fields of a later
// version.
func protoKindOfFirst(message []byte) (found protoKind) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		switch {
		case tag < 0:
			return found
		case kind == protowire.VarintType && number <= 2:
			return protoPprof
		case kind == protowire.BytesType && (number <= 3 || number == libraries):
			return protoOTLP
		}
		n := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if n < 0 {
			return found
		}
		found, message = protoPerfetto, message[tag+n:]
	}
	return found
}
