// SPDX-License-Identifier: Apache-2.0

package pprof

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const (
	// maxDecoded is the maximum size of a file after decompression. A profile of a large server has
	// 10 MB.
	maxDecoded = 64 << 20

	// maxMemory is the maximum memory of a file in the decoder of google/pprof: about messageBytes
	// for each message, even an empty one of two bytes, and valueRatio times the size of the file.
	maxMemory    = 256 << 20
	messageBytes = 250
	valueRatio   = 8

	// maxKeyBytes is the maximum size of the keys of all labels. The decoder hashes the key of each
	// label: a file may have a million labels with the same long key.
	maxKeyBytes = 256 << 20
)

var magicGzip = []byte{0x1f, 0x8b}

// Read reads a file. Each value type becomes a profile, the default type first. Types that measure
// the same as an earlier one are lost, such as sample counts next to the time of the samples.
func Read(data []byte, o importer.Options) (pprofile.Profiles, []importer.Loss, error) {
	r, err := read(data, o)
	if err != nil {
		return pprofile.NewProfiles(), nil, fmt.Errorf("it is no pprof: %w", err)
	}
	return r.Finish()
}

func read(data []byte, o importer.Options) (*reader, error) {
	data, err := inflated(data)
	if err != nil {
		return nil, err
	}
	in, err := parse(data)
	if err != nil {
		return nil, err
	}
	r := reader{Builder: importer.NewBuilder(o), in: in,
		mappings: map[*profile.Mapping]dictionary.MappingIndex{}, locations: map[*profile.Location]dictionary.LocationIndex{}}
	r.prune(len(data))
	if in.DocURL != "" {
		r.Lose("link to a documentation", 1)
	}
	for _, l := range in.Location {
		if l.IsFolded {
			r.Lose("marks of locations that stand for several", 1)
		}
	}
	for _, i := range r.types() {
		r.profile(i)
	}
	return &r, nil
}

func inflated(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, magicGzip) {
		return data, nil
	}
	unzip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(unzip, maxDecoded+1))
}

func parse(data []byte) (*profile.Profile, error) {
	if len(data) > maxDecoded {
		return nil, fmt.Errorf("it has more than %d bytes", maxDecoded)
	}
	if len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	count, ok := messages(data)
	if !ok {
		return nil, errors.New("its encoding is damaged")
	}
	if memory := messageBytes*count + valueRatio*len(data); memory > maxMemory {
		return nil, fmt.Errorf("it needs %d MiB of memory to be read, more than %d", memory>>20, maxMemory>>20)
	}
	if bytes := keyBytes(data); bytes > maxKeyBytes {
		return nil, fmt.Errorf("its labels have keys of %d MiB, more than %d", bytes>>20, maxKeyBytes>>20)
	}
	in, err := profile.ParseUncompressed(data)
	if err == nil {
		err = in.CheckValid()
	}
	return in, err
}

// messages returns the number of messages and texts in a file. It is false for a damaged file:
// google/pprof accepts fields with the number 0, after which nothing would be counted.
func messages(data []byte) (count int, ok bool) {
	file := wire.Message{Rest: data}
	for file.Next() {
		if file.Bytes == nil {
			continue
		}
		count++
		inner := wire.Message{}
		switch file.Number {
		case profileSampleType, profileSample, profileMapping, profileLocation, profileFunction, profilePeriodType:
			inner.Rest = file.Bytes
		}
		for inner.Next() {
			if inner.Bytes == nil {
				continue
			}
			count++
			label, line := file.Number == profileSample && inner.Number == sampleLabel, file.Number == profileLocation && inner.Number == locationLine
			if (label || line) && !isWhole(inner.Bytes) {
				return count, false
			}
		}
		if inner.Broken {
			return count, false
		}
	}
	return count, !file.Broken
}

func isWhole(message []byte) bool {
	m := wire.Message{Rest: message}
	for m.Next() {
	}
	return !m.Broken
}

// keyBytes returns the size of the keys of all labels.
func keyBytes(data []byte) (sum int) {
	var texts []int // lengths
	for text := range wire.Within(data, profileString) {
		texts = append(texts, len(text))
	}
	for sample := range wire.Within(data, profileSample) {
		for label := range wire.Within(sample, sampleLabel) {
			if key := keyOf(label); key < uint64(len(texts)) {
				sum += texts[key]
			}
		}
	}
	return sum
}

// keyOf returns the key of a label: the last one, as decoders do.
func keyOf(label []byte) (key uint64) {
	for f := range wire.Fields(label) {
		if f.Is(labelKey, protowire.VarintType) {
			key = f.Varint
		}
	}
	return key
}

type reader struct {
	*importer.Builder
	in         *profile.Profile
	mappings   map[*profile.Mapping]dictionary.MappingIndex
	locations  map[*profile.Location]dictionary.LocationIndex
	nodes      []importer.Node // by sample
	attributes [][]dictionary.AttributeIndex
	links      []dictionary.LinkIndex
	comments   dictionary.AttributeIndex
}

// types returns the positions of the types to read. The first one is the type that pprof displays:
// the default type, or the last one.
func (r *reader) types() (types []int) {
	all := r.in.SampleType
	if len(all) == 0 { // and no samples
		return nil
	}
	first := slices.IndexFunc(all, func(t *profile.ValueType) bool { return t.Type == r.in.DefaultSampleType })
	if r.in.DefaultSampleType == "" || first < 0 {
		first = len(all) - 1
	}
	order := []int{first}
	for i := range all {
		if i != first {
			order = append(order, i)
		}
	}
	// Numbers of samples are read only if no other type has their time.
	slices.SortStableFunc(order[1:], func(a, b int) int { return cmp.Compare(r.observations(a), r.observations(b)) })
	measured := map[sampletype.Measure]bool{}
	for _, i := range order {
		m := r.typeOf(i).Measure(r.in.Period)
		m.Factor = 0
		if measured[m] {
			r.Lose("values of "+all[i].Type+", which measure the same as another type", len(r.in.Sample))
			continue
		}
		measured[m] = true
		types = append(types, i)
	}
	return types
}

func (r *reader) typeOf(i int) sampletype.Type {
	t, period := r.in.SampleType[i], cmp.Or(r.in.PeriodType, &profile.ValueType{})
	return sampletype.Interpret(t.Type, t.Unit, period.Type, period.Unit, r.in.Period)
}

// observations returns 1 for a type that counts observations.
func (r *reader) observations(i int) int {
	if r.typeOf(i).Counts {
		return 1
	}
	return 0
}

// profile adds the values of a type.
func (r *reader) profile(i int) {
	t := r.in.SampleType[i]
	out := r.Profile(importer.Type{Shape: importer.Totals, Name: t.Type, Unit: t.Unit})
	if out == nil {
		return
	}
	if p := r.in.PeriodType; p != nil {
		out.SetPeriod(p.Type, p.Unit, r.in.Period)
	}
	if r.in.TimeNanos > 0 || r.in.DurationNanos > 0 {
		out.SetTime(uint64(max(r.in.TimeNanos, 0)), uint64(max(r.in.DurationNanos, 0)))
	}
	r.decode()
	if r.comments != 0 {
		out.SetAttributes(r.comments)
	}
	for n, s := range r.in.Sample {
		if s.Value[i] != 0 {
			out.Add(importer.Sample{Attributes: r.attributes[n], Link: r.links[n], Node: r.nodes[n], Value: s.Value[i]})
		}
	}
}

// decode reads what the values of a sample share, once.
func (r *reader) decode() {
	if r.nodes != nil {
		return
	}
	if len(r.in.Comments) > 0 {
		comments := pcommon.NewValueSlice()
		for _, c := range r.in.Comments {
			comments.Slice().AppendEmpty().SetStr(strings.ToValidUTF8(c, "\uFFFD"))
		}
		r.comments = r.Attribute(semconv.PprofProfileComment, dictionary.MovedValue(comments), "")
	}
	for _, s := range r.in.Sample {
		node := importer.Node(0)
		for _, location := range slices.Backward(s.Location) {
			node = r.Call(node, r.location(location))
		}
		if node == 0 {
			node = r.Call(node, r.unnamed()) // pprof counts it; without a stack, it would be idle time
		}
		attributes, link := r.labels(s)
		r.nodes, r.attributes, r.links = append(r.nodes, node), append(r.attributes, attributes), append(r.links, link)
	}
}

// labels is the inverse of the labels that Writer writes. Of several values of a label, the first
// is kept; texts have priority over numbers.
func (r *reader) labels(s *profile.Sample) (attributes []dictionary.AttributeIndex, link dictionary.LinkIndex) {
	var trace pcommon.TraceID
	var span pcommon.SpanID
	if decodeID(trace[:], s.Label[labelTrace]) && decodeID(span[:], s.Label[labelSpan]) {
		link = r.Link(trace, span)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Label)) {
		values := s.Label[key]
		if link != 0 && (key == labelTrace || key == labelSpan) || len(values) == 0 {
			continue
		}
		attributes = append(attributes, r.SharedAttr(key, values[0]))
		r.Lose(furtherValues, len(values)-1)
	}
	for _, key := range slices.Sorted(maps.Keys(s.NumLabel)) {
		values := s.NumLabel[key]
		if len(s.Label[key]) > 0 {
			r.Lose(furtherValues, len(values))
			continue
		}
		if len(values) == 0 {
			continue
		}
		unit := ""
		if units := s.NumUnit[key]; len(units) > 0 {
			unit = units[0]
		}
		attributes = append(attributes, r.Attribute(key, dictionary.IntValue(values[0]), unit))
		r.Lose(furtherValues, len(values)-1)
	}
	slices.Sort(attributes)
	return attributes, link
}

const furtherValues = "further values of labels"

func decodeID(id []byte, texts []string) bool {
	if len(texts) == 0 || len(texts[0]) != 2*len(id) {
		return false
	}
	_, err := hex.Decode(id, []byte(texts[0]))
	return err == nil
}

func (r *reader) location(l *profile.Location) dictionary.LocationIndex {
	if index, known := r.locations[l]; known {
		return index
	}
	out := dictionary.Location{Mapping: r.mapping(l.Mapping), Address: l.Address}
	lines := l.Line
	if l.Address != 0 && !slices.ContainsFunc(lines, named) {
		lines = nil // such as the location of Go's threadcreate profile
	}
	for _, line := range lines {
		function := dictionary.Function{Name: r.String(unnamed)}
		if f := line.Function; f != nil {
			function = dictionary.Function{Name: r.SharedString(f.Name), Filename: r.SharedString(f.Filename), StartLine: max(f.StartLine, 0)}
			if f.SystemName != f.Name {
				function.SystemName = r.SharedString(f.SystemName)
			}
		}
		out.Lines = append(out.Lines, dictionary.Line{Function: r.Function(function), Line: max(line.Line, 0), Column: max(line.Column, 0)})
	}
	if len(out.Lines) == 0 && out.Mapping == 0 && out.Address == 0 {
		r.locations[l] = r.unnamed()
		return r.locations[l]
	}
	r.locations[l] = r.Location(out)
	return r.locations[l]
}

// named reports whether a line states a function.
func named(line profile.Line) bool {
	f := line.Function
	return f != nil && (f.Name != "" || f.SystemName != "" || f.Filename != "")
}

// unnamed is the name of a function that a file does not describe.
const unnamed = "(unknown)"

func (r *reader) unnamed() dictionary.LocationIndex { return r.Frame(importer.Frame{Name: unnamed}) }

func (r *reader) mapping(m *profile.Mapping) dictionary.MappingIndex {
	if m == nil {
		return 0
	}
	index, known := r.mappings[m]
	if !known {
		out := dictionary.Mapping{Start: m.Start, Limit: m.Limit, FileOffset: m.Offset, Filename: r.SharedString(m.File)}
		if m.BuildID != "" {
			out.Attributes = []dictionary.AttributeIndex{r.SharedAttr(semconv.ProcessExecutableBuildIDGNU, m.BuildID)}
		}
		index = r.Mapping(out)
		r.mappings[m] = index
	}
	return index
}
