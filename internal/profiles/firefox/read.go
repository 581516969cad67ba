// SPDX-License-Identifier: Apache-2.0

package firefox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

var errGecko = errors.New("it is no processed profile; open it at profiler.firefox.com and save it there")

// Read reads a processed profile.
func Read(data []byte, o importer.Options) (pprofile.Profiles, []importer.Loss, error) {
	f, err := read(data, o)
	if err != nil {
		return pprofile.NewProfiles(), nil, err
	}
	return f.Finish()
}

func read(data []byte, o importer.Options) (*fileReader, error) {
	var file content
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("it is not a profile of the Firefox Profiler: %w", err)
	}
	if file.Meta.PreprocessedProfileVersion == 0 {
		return nil, errGecko
	}
	b := importer.NewBuilder(o)
	b.SetName(file.Meta.Product)
	f := fileReader{Builder: b, file: &file, profiles: map[string]*importer.Profile{}, start: b.Start()}
	if ms := file.Meta.StartTime; ms >= 1 && ms < math.MaxInt64/nanosPerMilli {
		f.start = uint64(math.Round(ms * nanosPerMilli))
	}
	for _, t := range file.Threads {
		if t == nil {
			b.Lose("threads that are null", 1)
			continue
		}
		f.thread(t)
	}
	return &f, nil
}

type fileReader struct {
	*importer.Builder
	file     *content
	profiles map[string]*importer.Profile // by shape and unit
	shared   *threadReader                // of the shared tables
	start    uint64
}

func (f *fileReader) thread(t *thread) {
	out, shape := f.profileOf(&t.Samples)
	if out == nil {
		return
	}
	f.Lose("markers", t.Markers.Length)
	r := f.tablesOf(t)
	var attributes []dictionary.AttributeIndex
	if id := idText(t.TID); id != noThreadID || t.Name != noThread {
		attributes = f.Thread(id, t.Name)
	}
	at := 0.0
	for i, stack := range t.Samples.Stack {
		if i < len(t.Samples.TimeDeltas) {
			at += t.Samples.TimeDeltas[i]
		}
		if i < len(t.Samples.Time) {
			at = t.Samples.Time[i]
		}
		sample := importer.Sample{Attributes: attributes, Node: r.node(stack), Time: f.instant(at), Value: 1}
		if i < len(t.Samples.Weight) {
			sample.Value = whole(t.Samples.Weight[i])
			if shape == importer.Times {
				sample.Value = whole(t.Samples.Weight[i] * nanosPerMilli)
			}
		}
		out.Add(sample)
	}
}

// profileOf returns the profile for samples of a thread.
func (f *fileReader) profileOf(s *samples) (*importer.Profile, importer.Shape) {
	period := whole(f.file.Meta.Interval * nanosPerMilli)
	key, t := s.WeightType, importer.Type{Shape: importer.Counts, Name: "samples", Unit: "count"}
	switch {
	case s.WeightType == weightMillis:
		t = importer.Type{Shape: importer.Times, Name: "wall", Unit: "nanoseconds"}
	case s.WeightType == weightBytes:
		t = importer.Type{Shape: importer.Totals, Name: "space", Unit: "bytes"}
	case len(s.Weight) > 0:
		key, t.Shape = key+" weighted", importer.Totals
	default:
		t.Period = time.Duration(period)
	}
	if _, known := f.profiles[key]; !known {
		f.profiles[key] = f.newProfile(t, period)
	}
	return f.profiles[key], t.Shape
}

func (f *fileReader) newProfile(t importer.Type, period int64) *importer.Profile {
	p := f.Profile(t)
	if p == nil {
		return nil
	}
	p.SetTime(f.start, 0) // and the times of the samples
	if t.Shape == importer.Times {
		p.SetPeriod("wall", "nanoseconds", period)
	}
	return p
}

// instant returns the time of milliseconds since the start.
func (f *fileReader) instant(ms float64) uint64 {
	return uint64(max(int64(f.start)+whole(ms*nanosPerMilli), 1))
}

// whole rounds a number, and limits it so that a sum with a time stays in range.
func whole(x float64) int64 {
	const limit = 1 << 61
	return int64(math.Round(max(min(x, limit), -limit)))
}

// idText returns the text of a thread ID.
func idText(id any) string {
	switch id := id.(type) {
	case string:
		return id
	case float64:
		return fmt.Sprintf("%.0f", id)
	case int64:
		return fmt.Sprint(id)
	}
	return ""
}

// tablesOf returns the reader of the tables of a thread. Shared tables are read once, however many
// threads use them; they refer to shared tables.
func (f *fileReader) tablesOf(t *thread) *threadReader {
	own := &threadReader{fileReader: f, in: &t.tables}
	shared := f.file.Shared
	if shared == nil {
		own.read()
		return own
	}
	if f.shared == nil {
		f.shared = &threadReader{fileReader: f, in: shared}
		f.shared.read()
	}
	if len(shared.StackTable.Frame) > 0 {
		return f.shared
	}
	own.in = shared.with(&t.tables)
	if len(shared.FrameTable.Func) > 0 {
		own.frames = f.shared.frames
	}
	own.read()
	return own
}

// with returns the tables of a thread: the shared ones, and its own for those that are not shared.
func (t *tables) with(own *tables) *tables {
	all := *own
	if len(t.FrameTable.Func) > 0 {
		all.FrameTable = t.FrameTable
	}
	if len(t.FuncTable.Name) > 0 {
		all.FuncTable = t.FuncTable
	}
	if len(t.StringArray) > 0 {
		all.StringArray = t.StringArray
	}
	return &all
}

type threadReader struct {
	*fileReader
	in     *tables
	frames []dictionary.LocationIndex
	nodes  []importer.Node
}

// read reads the stack table. A caller is always an earlier entry.
func (r *threadReader) read() {
	if r.frames == nil {
		r.frames = make([]dictionary.LocationIndex, len(r.in.FrameTable.Func))
	}
	r.nodes = make([]importer.Node, len(r.in.StackTable.Frame))
	table := &r.in.StackTable
	for i, frame := range table.Frame {
		caller := importer.Node(0)
		if i < len(table.Prefix) && table.Prefix[i] != nil {
			if prefix := int(*table.Prefix[i]); prefix >= 0 && prefix < i {
				caller = r.nodes[prefix]
			} else {
				r.Lose("callers that do not exist", 1)
			}
		}
		r.nodes[i] = caller
		if location := r.frame(frame); location != 0 {
			r.nodes[i] = r.Call(caller, location)
		} else {
			r.Lose("frames that do not exist", 1)
		}
	}
}

func (r *threadReader) node(stack *int32) importer.Node {
	switch {
	case stack == nil:
		return 0
	case *stack < 0 || int(*stack) >= len(r.nodes):
		r.Lose("stacks that do not exist", 1)
		return 0
	}
	return r.nodes[*stack]
}

func (r *threadReader) frame(i int32) dictionary.LocationIndex {
	if i < 0 || int(i) >= len(r.frames) {
		return 0
	}
	if r.frames[i] == 0 {
		table, functions := &r.in.FrameTable, &r.in.FuncTable
		f := table.Func[i]
		if f < 0 || int(f) >= len(functions.Name) {
			return 0
		}
		file := int32(-1)
		if p := at(functions.FileName, int(f)); p != nil {
			file = *p
		}
		r.frames[i] = r.Builder.Frame(importer.Frame{
			Name: r.text(functions.Name[f]), File: r.text(file), StartLine: number(at(functions.LineNumber, int(f))),
			Line: number(at(table.Line, int(i))), Column: number(at(table.Column, int(i))),
		})
	}
	return r.frames[i]
}

func (r *threadReader) text(i int32) string {
	if i < 0 || int(i) >= len(r.in.StringArray) {
		return ""
	}
	return r.in.StringArray[i]
}

func at[T any](column []*T, i int) *T {
	if i >= len(column) {
		return nil
	}
	return column[i]
}

func number(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
