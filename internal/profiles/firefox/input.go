// SPDX-License-Identifier: Apache-2.0

package firefox

import "github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"

// input has the fields of a file that are read, in all versions. If only some versions have a
// field, its comment states which; CHANGELOG-formats.md of the Firefox Profiler describes them.
// Fields such as processType, which older files state as a number, are not read.
type input struct {
	Meta struct {
		Interval           float64      `json:"interval"`  // milliseconds
		StartTime          float64      `json:"startTime"` // Unix time in milliseconds; 0: unknown
		ProfilingStartTime float64      `json:"profilingStartTime"`
		Product            string       `json:"product"`
		Version            importer.Int `json:"preprocessedProfileVersion"`
	} `json:"meta"`
	Threads  []*inputThread `json:"threads"` // pointers, so that null needs no memory
	Counters []struct{}     `json:"counters"`
	Shared   *inputTables   `json:"shared"` // 56+
}

type inputThread struct {
	inputTables              // -55: all, -59: all but StringArray and Sources
	Name        string       `json:"name"`
	ProcessName string       `json:"processName"`
	PID         any          `json:"pid"` // 14+; a text, -46: or a number
	TID         any          `json:"tid"` // a number or a text
	Samples     *inputSample `json:"samples"`

	Markers           rows `json:"markers"`
	JSAllocations     rows `json:"jsAllocations"`
	NativeAllocations rows `json:"nativeAllocations"`
}

// rows is a table of which only the length is read.
type rows struct {
	Length importer.Int `json:"length"`
}

// inputSample is the table of samples, with a column for each field.
type inputSample struct {
	Length     importer.Int           `json:"length"`
	Stack      importer.Column[int32] `json:"stack"`
	Time       []float64              `json:"time"`       // milliseconds since the start
	TimeDeltas []float64              `json:"timeDeltas"` // 50+, instead of Time
	Weight     []float64              `json:"weight"`     // null: every weight is 1
	Duration   []float64              `json:"duration"`   // -28: the weight
	WeightType string                 `json:"weightType"`
}

// inputTables have columns of equal lengths, with indices into other tables.
type inputTables struct {
	StackTable struct {
		Frame        importer.Column[int32] `json:"frame"`
		Prefix       importer.Column[int32] `json:"prefix"`       // -65: the caller, an earlier entry
		PrefixOffset importer.Column[int32] `json:"prefixOffset"` // 66+: the distance from the caller; 0: none
	} `json:"stackTable"`
	FrameTable struct {
		Func             importer.Column[int32] `json:"func"`
		Line             importer.Column[int64] `json:"line"`
		Column           importer.Column[int64] `json:"column"`
		OriginalLocation importer.Column[int32] `json:"originalLocation"` // 64+: in SourceLocations
	} `json:"frameTable"`
	FuncTable struct {
		Name             importer.Column[int32] `json:"name"`
		FileName         importer.Column[int32] `json:"fileName"` // -57: in StringArray
		Source           importer.Column[int32] `json:"source"`   // 57+: in Sources
		LineNumber       importer.Column[int64] `json:"lineNumber"`
		OriginalLocation importer.Column[int32] `json:"originalLocation"` // 64+
	} `json:"funcTable"`
	Sources struct {
		Filename importer.Column[int32] `json:"filename"`
	} `json:"sources"` // 57+
	SourceLocations struct { // of code before its compilation, by source maps
		Source importer.Column[int32] `json:"source"`
		Line   importer.Column[int64] `json:"line"`
		Column importer.Column[int64] `json:"column"`
	} `json:"sourceLocationTable"` // 64+
	StringArray []string `json:"stringArray"`
}

// with returns the tables of a thread: the shared tables, and its own for the rest.
func (t *inputTables) with(own *inputTables) *inputTables {
	all := *t
	if len(t.StackTable.Frame) == 0 {
		all.StackTable = own.StackTable
	}
	if len(t.FrameTable.Func) == 0 {
		all.FrameTable = own.FrameTable
	}
	if len(t.FuncTable.Name) == 0 {
		all.FuncTable = own.FuncTable
	}
	if len(t.StringArray) == 0 {
		all.StringArray = own.StringArray
	}
	return &all
}
