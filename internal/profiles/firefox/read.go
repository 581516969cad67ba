// SPDX-License-Identifier: Apache-2.0

package firefox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

var errGecko = errors.New("it is no processed profile; open it at profiler.firefox.com and save it there")

// newestVersion is the newest version of the format that the tests read.
const newestVersion = 70

// Read reads a processed profile.
func Read(data []byte, o importer.Options) (pprofile.Profiles, []importer.Loss, error) {
	f, err := read(data, o)
	if err != nil {
		return pprofile.NewProfiles(), nil, err
	}
	return f.Finish()
}

func read(data []byte, o importer.Options) (*fileReader, error) {
	var file input
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("it is not a profile of the Firefox Profiler: %w", err)
	}
	if file.Meta.Version == 0 && !slices.ContainsFunc(file.Threads, func(t *inputThread) bool { return t != nil && len(t.StringArray) > 0 }) {
		return nil, errGecko
	}
	b := importer.NewBuilder(o)
	b.SetName(file.Meta.Product)
	f := fileReader{Builder: b, file: &file, profiles: map[string]*importer.Profile{}}
	f.dropUnusable()
	f.setStart()
	if file.Meta.Version > newestVersion {
		b.Lose(fmt.Sprintf("fields that are new in version %d of the format: version %d is read", file.Meta.Version, newestVersion), 1)
	}
	for _, of := range f.byProcess() {
		f.process(of)
	}
	b.Lose("counters", len(file.Counters))
	return &f, nil
}

type fileReader struct {
	*importer.Builder
	file     *input
	profiles map[string]*importer.Profile // of the current process, by shape and unit
	shared   *threadReader                // of the shared tables
	start    uint64                       // of the profiles
	zero     uint64                       // the time of offset
	offset   float64                      // milliseconds
}

// dropUnusable drops threads without a table of samples, which every thread of a valid file has.
func (f *fileReader) dropUnusable() {
	f.file.Threads = slices.DeleteFunc(f.file.Threads, func(t *inputThread) bool {
		switch {
		case t == nil:
			f.Lose("threads that are null", 1)
		case t.Samples == nil:
			f.Lose("threads without a table of samples", 1)
		default:
			return false
		}
		return true
	})
}

// setStart sets the times. Files that were converted from other formats often have no date, and
// their clock often started long before the first sample.
func (f *fileReader) setStart() {
	f.start, f.zero = f.Start(), f.Start()
	if ms := f.file.Meta.StartTime; ms >= 1 && ms < math.MaxInt64/nanosPerMilli {
		f.zero = uint64(math.Round(ms * nanosPerMilli))
		f.start = f.instant(max(f.file.Meta.ProfilingStartTime, 0))
		return
	}
	first := math.Inf(1)
	for _, t := range f.file.Threads {
		if len(t.Samples.Time) > 0 {
			first = min(first, slices.Min(t.Samples.Time))
		} else if len(t.Samples.TimeDeltas) > 0 {
			first = min(first, t.Samples.TimeDeltas[0])
		}
	}
	if !math.IsInf(first, 1) {
		f.offset = first
	}
}

// byProcess returns the threads of each process. A thread without a process ID is a process of its
// own, as in the Firefox Profiler: only versions before 14 have such threads.
func (f *fileReader) byProcess() (processes [][]*inputThread) {
	known := map[string]int{}
	for i, t := range f.file.Threads {
		id := "p" + idText(t.PID)
		if t.PID == nil {
			id = "t" + strconv.Itoa(i)
		}
		at, ok := known[id]
		if !ok {
			at = len(processes)
			known[id] = at
			processes = append(processes, nil)
		}
		processes[at] = append(processes[at], t)
	}
	return processes
}

func (f *fileReader) process(threads []*inputThread) {
	id, err := strconv.ParseInt(idText(threads[0].PID), 10, 64)
	if err != nil {
		id = 0
	}
	name := threads[0].ProcessName
	if name == f.file.Meta.Product {
		name = ""
	}
	f.Process(id, name)
	f.profiles = map[string]*importer.Profile{}
	for _, t := range threads {
		f.thread(t)
	}
}

func (f *fileReader) thread(t *inputThread) {
	f.Lose("markers", int(t.Markers.Length))
	f.Lose("allocations", int(t.JSAllocations.Length)+int(t.NativeAllocations.Length))
	s := t.Samples
	if len(s.Weight) == 0 {
		s.Weight = s.Duration
	}
	out, scale := f.profileOf(s)
	if out == nil {
		return
	}
	f.missing(s)
	r := f.tablesOf(t)
	var attributes []dictionary.AttributeIndex
	if id := idText(t.TID); id != noThreadID || t.Name != noThread {
		attributes = f.Thread(id, t.Name)
	}
	at := 0.0
	for i, stack := range s.Stack {
		switch {
		case i < len(s.Time):
			at = s.Time[i]
		case i < len(s.TimeDeltas):
			at += s.TimeDeltas[i]
		}
		weight := 1.0
		if i < len(s.Weight) {
			weight = s.Weight[i]
		}
		out.Add(importer.Sample{Attributes: attributes, Node: r.node(stack), Time: f.instant(at), Value: out.Whole(weight * scale)})
	}
}

// missing counts samples that are not in all columns.
func (f *fileReader) missing(s *inputSample) {
	n := len(s.Stack)
	f.Lose("samples without a stack", max(int(s.Length)-n, 0))
	f.Lose("times of samples", max(n-max(len(s.Time), len(s.TimeDeltas)), 0))
	if len(s.Weight) > 0 {
		f.Lose("weights of samples", max(n-len(s.Weight), 0))
	}
}

// profileOf returns the profile for samples of a thread, and the factor for their weights. Samples
// without weights have the weight 1, as in the Firefox Profiler, regardless of the time between
// them.
func (f *fileReader) profileOf(s *inputSample) (*importer.Profile, float64) {
	period := time.Duration(f.file.Meta.Interval * nanosPerMilli)
	key, scale, t := s.WeightType, 1.0, importer.Type{Shape: importer.Values, Name: "samples", Unit: "count"}
	switch {
	case s.WeightType == weightMillis:
		t, scale = importer.Type{Shape: importer.Times, Name: "wall", Unit: "nanoseconds"}, nanosPerMilli
	case s.WeightType == weightBytes:
		t = importer.Type{Shape: importer.Totals, Name: "space", Unit: "bytes"}
	case len(s.Weight) == 0:
		t.Period = period
	case timed(s):
		key += " weighted"
	default:
		key, t.Shape = key+" untimed", importer.Totals
	}
	p, known := f.profiles[key]
	if !known {
		if p = f.Profile(t); p == nil {
			return nil, 0
		}
		f.profiles[key] = p
		p.SetTime(f.start, 0) // and the times of the samples
		if t.Shape == importer.Times {
			p.SetPeriod("wall", "nanoseconds", int64(period))
		}
	}
	return p, scale
}

// timed reports whether samples have times. Writers of formats without times state 0.
func timed(s *inputSample) bool {
	known := func(ms float64) bool { return ms != 0 }
	return slices.ContainsFunc(s.Time, known) || slices.ContainsFunc(s.TimeDeltas, known)
}

// instant returns the time of milliseconds since the start.
func (f *fileReader) instant(ms float64) uint64 {
	const limit = 1 << 61 // the sum stays in range
	return uint64(max(int64(f.zero)+int64(math.Round(max(min((ms-f.offset)*nanosPerMilli, limit), -limit))), 1))
}

// idText returns the text of the ID of a thread or process.
func idText(id any) string {
	switch id := id.(type) {
	case string:
		return id
	case float64:
		return fmt.Sprintf("%.0f", id)
	}
	return ""
}

// tablesOf returns the reader of the tables of a thread. Shared tables are read once, however many
// threads use them; they refer to shared tables.
func (f *fileReader) tablesOf(t *inputThread) *threadReader {
	own := &threadReader{fileReader: f, in: &t.inputTables}
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
	own.in = shared.with(&t.inputTables)
	if len(shared.FrameTable.Func) > 0 {
		own.frames = f.shared.frames
	}
	own.read()
	return own
}

type threadReader struct {
	*fileReader
	in     *inputTables
	frames []dictionary.LocationIndex
	nodes  []importer.Node
}

// read reads the stack table. A caller is always an earlier entry.
func (r *threadReader) read() {
	if r.frames == nil {
		r.frames = make([]dictionary.LocationIndex, len(r.in.FrameTable.Func))
	}
	r.nodes = make([]importer.Node, len(r.in.StackTable.Frame))
	for i, frame := range r.in.StackTable.Frame {
		if caller, ok := r.caller(i); ok {
			r.nodes[i] = r.nodes[caller]
		}
		if location := r.frame(frame); location != 0 {
			r.nodes[i] = r.Call(r.nodes[i], location)
		} else {
			r.Lose("frames that do not exist", 1)
		}
	}
}

// caller returns the entry that an entry of the stack table names as its caller; false if it is the
// first function of a thread.
func (r *threadReader) caller(i int) (int, bool) {
	table := &r.in.StackTable
	caller := importer.None
	switch {
	case i < len(table.PrefixOffset):
		if offset := int(table.PrefixOffset[i]); offset != 0 {
			caller = i - offset
		}
	case i < len(table.Prefix):
		caller = int(table.Prefix[i])
	default:
		r.Lose("callers that are missing", 1)
	}
	if caller < importer.None || caller >= i {
		r.Lose("callers that do not exist", 1)
		return 0, false
	}
	return caller, caller != importer.None
}

func (r *threadReader) node(stack int32) importer.Node {
	switch {
	case stack == importer.None:
		return 0
	case stack < 0 || int(stack) >= len(r.nodes):
		r.Lose("stacks that do not exist", 1)
		return 0
	}
	return r.nodes[stack]
}

func (r *threadReader) frame(i int32) dictionary.LocationIndex {
	if i < 0 || int(i) >= len(r.frames) {
		return 0
	}
	if r.frames[i] == 0 {
		table, functions := &r.in.FrameTable, &r.in.FuncTable
		f := int(table.Func[i])
		if f < 0 || f >= len(functions.Name) {
			return 0
		}
		out := importer.Frame{Name: r.text(functions.Name[f]), File: r.file(f), StartLine: functions.LineNumber.At(f),
			Line: table.Line.At(int(i)), Column: table.Column.At(int(i))}
		original := &r.in.SourceLocations
		if at := int(functions.OriginalLocation.At(f)); at >= 0 && at < len(original.Source) {
			out.File, out.StartLine = r.text(r.in.Sources.Filename.At(int(original.Source[at]))), original.Line.At(at)
		}
		if at := int(table.OriginalLocation.At(int(i))); at >= 0 && at < len(original.Line) {
			out.Line, out.Column = original.Line[at], original.Column.At(at)
		}
		r.frames[i] = r.Builder.Frame(out)
	}
	return r.frames[i]
}

// file returns the file of a function.
func (r *threadReader) file(function int) string {
	functions := &r.in.FuncTable
	if source := functions.Source.At(function); source != importer.None {
		file := r.in.Sources.Filename.At(int(source))
		if file == importer.None {
			r.Lose("sources that do not exist", 1)
		}
		return r.text(file)
	}
	return r.text(functions.FileName.At(function))
}

// text returns an entry of the string table.
func (r *threadReader) text(i int32) string {
	switch {
	case i == importer.None:
		return ""
	case i < 0 || int(i) >= len(r.in.StringArray):
		r.Lose("texts that do not exist", 1)
		return ""
	}
	return r.in.StringArray[i]
}
