// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestFields changes valid files of every format, field by field. A file with fields in another
// order or with an unknown field is the same file. A file without a field, or with a field twice,
// is rejected, or it has at least the same total, or the loss is listed.
func TestFields(t *testing.T) {
	for name, file := range validFiles(t) {
		t.Run(name, func(t *testing.T) {
			whole := convertedTotal(t, file.encode(file.tree))
			require.Equal(t, exitOK, whole.exit, whole.errors)
			require.Positive(t, whole.total)
			changes := file.changes()
			assert.Greater(t, len(changes), 20)
			for i, change := range slices.Sorted(maps.Keys(changes)) {
				if i%6 != 0 && !testsize.Full() {
					continue
				}
				got := convertedTotal(t, file.encode(changes[change]))
				if strings.HasPrefix(change, "add") || strings.HasPrefix(change, "reorder") {
					assert.Equal(t, whole.out, got.out, "%s: %s", change, got.errors)
					continue
				}
				if got.exit == exitOK && got.total < whole.total && got.losses == whole.losses && !file.excused(change) {
					t.Errorf("%s: total %v instead of %v, without a loss: %s", change, got.total, whole.total, got.out)
				}
				if got.exit == exitOK && got.out == "" {
					t.Errorf("%s: no output: %s", change, got.errors)
				}
			}
		})
	}
}

// conversionResult is the result of one file.
type conversionResult struct {
	out, errors, losses string
	exit                int
	total               float64
}

func convertedTotal(t *testing.T, file []byte) (r conversionResult) {
	r.out, r.errors, r.exit = call(t, string(file), "convert", "--to", "collapsed", "-")
	for line := range strings.Lines(r.errors) {
		if strings.HasPrefix(line, "lost: ") {
			r.losses += line
		}
	}
	r.total = totalOf(r.out)
	return r
}

// fieldFile is a file as a tree of fields.
type fieldFile struct {
	tree    *node
	encode  func(*node) []byte
	unknown node     // a field that the format does not have
	meaning []string // fields that state what the values are: without them, the same numbers mean less
}

func (f *fieldFile) excused(change string) bool {
	return slices.ContainsFunc(f.meaning, func(path string) bool { return strings.HasSuffix(change, path) })
}

// node is a value: an object or a message with fields, a list with elements, or a scalar.
type node struct {
	key    string // of a field
	shape  shape
	inside []*node
	scalar []byte
}

type shape int

const (
	scalarShape shape = iota
	objectShape
	listShape
)

// changes returns the tree without each field, once without its first occurrence and once without
// all, and with the changes that mean nothing.
func (f *fieldFile) changes() map[string]*node {
	all := map[string]*node{}
	for path := range f.tree.paths("") {
		for _, change := range []string{"drop first", "drop all", "duplicate", "reorder", "add"} {
			tree := f.tree.clone()
			done := false
			tree.visit("", func(at string, n *node, i int) bool {
				if at != path || done && change != "drop all" {
					return false
				}
				done = true
				switch change {
				case "duplicate":
					n.inside = slices.Insert(n.inside, i, n.inside[i])
				case "reorder":
					slices.SortStableFunc(n.inside, func(a, b *node) int { return strings.Compare(b.key, a.key) })
				case "add":
					n.inside = slices.Insert(n.inside, i, &f.unknown)
				default:
					n.inside = slices.Delete(n.inside, i, i+1)
					return true
				}
				return false
			})
			all[change+" "+path] = tree
		}
	}
	return all
}

// paths returns the paths of all fields.
func (n *node) paths(prefix string) map[string]bool {
	all := map[string]bool{}
	n.visit(prefix, func(at string, _ *node, _ int) bool { all[at] = true; return false })
	return all
}

// visit calls a function for each field of each object. After a change, the same place is visited
// again.
func (n *node) visit(prefix string, change func(path string, in *node, i int) (deleted bool)) {
	inside := slices.Clone(n.inside)
	deleted := 0
	for i, field := range inside {
		path := prefix
		if n.shape == objectShape {
			path += "." + field.key
			if change(path, n, i-deleted) {
				deleted++
				continue
			}
		}
		field.visit(path, change)
	}
}

func (n *node) clone() *node {
	copied := *n
	copied.inside = nil
	for _, field := range n.inside {
		copied.inside = append(copied.inside, field.clone())
	}
	return &copied
}

// jsonFile returns a file of JSON.
func jsonFile(t *testing.T, text []byte, meaning ...string) *fieldFile {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	f := &fieldFile{encode: func(n *node) []byte { return n.appendJSON(nil) }, meaning: meaning, unknown: node{key: "unknownField", scalar: []byte(`{"a":[1,"b"]}`)}}
	f.tree = readNode(t, decoder)
	return f
}

func readNode(t *testing.T, d *json.Decoder) *node {
	token, err := d.Token()
	require.NoError(t, err)
	delimiter, ok := token.(json.Delim)
	if !ok {
		text, err := json.Marshal(token)
		require.NoError(t, err)
		return &node{scalar: text}
	}
	n := &node{shape: listShape}
	if delimiter == '{' {
		n.shape = objectShape
	}
	for d.More() {
		key := ""
		if n.shape == objectShape {
			token, err := d.Token()
			require.NoError(t, err)
			key = token.(string)
		}
		value := readNode(t, d)
		value.key = key
		n.inside = append(n.inside, value)
	}
	_, err = d.Token()
	require.NoError(t, err)
	return n
}

func (n *node) appendJSON(to []byte) []byte {
	if n.shape == scalarShape {
		return append(to, n.scalar...)
	}
	brackets := map[shape]string{objectShape: "{}", listShape: "[]"}[n.shape]
	to = append(to, brackets[0])
	for i, field := range n.inside {
		if i > 0 {
			to = append(to, ',')
		}
		if n.shape == objectShape {
			to = append(fmt.Appendf(to, "%q", field.key), ':')
		}
		to = field.appendJSON(to)
	}
	return append(to, brackets[1])
}

// protoFile returns a message. nested are the paths of its messages.
func protoFile(t *testing.T, message []byte, nested, meaning []string) *fieldFile {
	f := &fieldFile{encode: func(n *node) []byte { return n.appendProto(nil) }, meaning: meaning}
	f.unknown = node{key: "99", scalar: protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)}
	f.tree = readMessage(t, message, "", nested)
	return f
}

func readMessage(t *testing.T, message []byte, path string, nested []string) *node {
	n := &node{shape: objectShape}
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeField(message)
		require.Positive(t, size)
		field := &node{key: fmt.Sprint(number), scalar: message[:size]}
		if at := path + "." + field.key; slices.Contains(nested, at) && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(message)
			content, _ := protowire.ConsumeBytes(message[tag:])
			key := field.key
			field = readMessage(t, content, at, nested)
			field.key = key
		}
		n.inside = append(n.inside, field)
		message = message[size:]
	}
	return n
}

func (n *node) appendProto(to []byte) []byte {
	for _, field := range n.inside {
		if field.shape == scalarShape {
			to = append(to, field.scalar...)
			continue
		}
		var number protowire.Number
		_, _ = fmt.Sscan(field.key, &number)
		to = protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), field.appendProto(nil))
	}
	return to
}

// collapsedFile returns a file of collapsed stacks. Each line is a field with fields of its own:
// the frames and, at the end, the weights. Blanks are fields without a meaning. A file without a
// line is another file.
func collapsedFile(text []byte) *fieldFile {
	f := &fieldFile{tree: &node{shape: objectShape}, unknown: node{key: "blank", scalar: []byte(" \t")}}
	f.encode = func(n *node) (out []byte) {
		for _, line := range n.inside {
			fields := map[string][]string{"blank": {string(line.scalar)}}
			for _, field := range line.inside {
				fields[field.key] = append(fields[field.key], string(field.scalar))
			}
			weights := append([]string{strings.Join(fields["frame"], ";")}, fields["weight"]...)
			out = fmt.Appendf(out, "%s%s\n", strings.Join(weights, " "), strings.Join(fields["blank"], ""))
		}
		return out
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		weights := len(words)
		for weights > 0 && strings.Trim(words[weights-1], ".0123456789") == "" {
			weights--
		}
		n := &node{key: fmt.Sprint("line ", len(f.tree.inside)+1), shape: objectShape}
		for frame := range strings.SplitSeq(strings.Join(words[:weights], " "), ";") {
			n.inside = append(n.inside, &node{key: "frame", scalar: []byte(frame)})
		}
		for _, weight := range words[weights:] {
			n.inside = append(n.inside, &node{key: "weight", scalar: []byte(weight)})
		}
		f.tree.inside = append(f.tree.inside, n)
		f.meaning = append(f.meaning, "."+n.key)
	}
	return f
}

var (
	// otlpMeaning are fields that state what values are, or which thread has them.
	otlpMeaning = []string{"profiles.period", "profiles.periodType", "periodType.typeStrindex", "periodType.unitStrindex", "profiles.sampleType", "samples.attributeIndices", "attributeTable.keyStrindex",
		"sampleType.typeStrindex", "sampleType.unitStrindex", "attributeTable.value", "value.stringValue", "value.intValue", "attributeTable"}
	// otlpMessages are the nested messages of OTLP, and otlpNumbers the numbers of otlpMeaning.
	otlpMessages = []string{".1", ".1.1", ".1.2", ".1.2.1", ".1.2.2", ".1.2.2.1", ".1.2.2.2", ".1.2.2.5", ".2", ".2.2", ".2.2.3", ".2.3", ".2.6", ".2.6.2", ".2.7"}
	otlpNumbers  = []string{".1.2.2.2", ".1.2.2.2.2", ".2.5", ".1.2.2.1", ".1.2.2.1.1", ".1.2.2.1.2", ".1.2.2.5", ".1.2.2.5.1", ".1.2.2.5.2", ".1.2.2.6", ".2.6", ".2.6.2", ".2.6.1", ".2.6.2.1", ".2.6.2.3"}
)

// validFiles are files of every format: of the tools, and of this one.
func validFiles(t *testing.T) map[string]*fieldFile {
	files := map[string]*fieldFile{}
	message := received(t, recording(t))[0]
	for format, meaning := range map[string][]string{
		profilefile.Speedscope: {".profiles.unit"},
		profilefile.Firefox:    {".threads.samples.weight", ".threads.samples.weightType"},
		profilefile.OTLPJSON:   otlpMeaning,
	} {
		files[format] = jsonFile(t, []byte(written(t, format, "1.10", copied(message))), meaning...)
	}
	files[profilefile.OTLPProto] = protoFile(t, []byte(written(t, profilefile.OTLPProto, "1.10", copied(message))), otlpMessages, otlpNumbers)
	pprof := (environment{}).unpacked(t, []byte(written(t, profilefile.Pprof, "", copied(message))))
	files[profilefile.Pprof] = protoFile(t, pprof, []string{".1", ".2", ".2.3", ".3", ".4", ".4.4", ".5", ".11"}, nil)
	root := golden.Root(t)
	fromTool := func(format, name string) []byte {
		all := foreignFiles(t, format)
		return all[slices.IndexFunc(all, func(f foreign) bool { return f.name == name })].data
	}
	files[profilefile.CPUProfile] = jsonFile(t, fromTool(profilefile.CPUProfile, "node20-long-gaps.cpuprofile"))
	for _, name := range []string{"pyspy-threads.txt", "fractional.txt", "differential.txt"} {
		files[profilefile.Collapsed+" "+name] = collapsedFile(fromTool(profilefile.Collapsed, name))
	}
	body, err := os.ReadFile(filepath.Join(root, "testdata/cases/sdk-python-v2/in.envelope"))
	require.NoError(t, err)
	envelope, err := profilefile.ReadEnvelope(body)
	require.NoError(t, err)
	for _, item := range envelope.Items {
		if item.Header.Type == sentry.ItemProfileChunk {
			chunk := jsonFile(t, item.Payload)
			chunk.encode = func(n *node) []byte { return n.appendJSON([]byte("{}\n{\"type\":\"profile_chunk\"}\n")) }
			files[profilefile.Sentry] = chunk
		}
	}
	return files
}
