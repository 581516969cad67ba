// SPDX-License-Identifier: Apache-2.0

package firefox

// content is a file as the writer writes it. The reader uses input.
type content struct {
	Meta    meta      `json:"meta"`
	Libs    []any     `json:"libs"`
	Threads []*thread `json:"threads"`
}

type meta struct {
	Interval                   float64     `json:"interval"`  // milliseconds
	StartTime                  float64     `json:"startTime"` // Unix time in milliseconds
	ProcessType                int         `json:"processType"`
	Product                    string      `json:"product"`
	Stackwalk                  int         `json:"stackwalk"`
	Version                    int         `json:"version"` // of Gecko profiles
	PreprocessedProfileVersion int         `json:"preprocessedProfileVersion"`
	Symbolicated               bool        `json:"symbolicated"`
	Categories                 []*category `json:"categories"`
	MarkerSchema               []any       `json:"markerSchema"`
}

type category struct {
	Name          string   `json:"name"`
	Color         string   `json:"color"`
	Subcategories []string `json:"subcategories"`
}

// tables have a column for each field. Columns have equal lengths.
type tables struct {
	StackTable  stackTable `json:"stackTable"`
	FrameTable  frameTable `json:"frameTable"`
	FuncTable   funcTable  `json:"funcTable"`
	StringArray []string   `json:"stringArray"`
}

type thread struct {
	tables
	ProcessType         int           `json:"processType"`
	ProcessStartupTime  float64       `json:"processStartupTime"`
	ProcessShutdownTime *float64      `json:"processShutdownTime"`
	RegisterTime        float64       `json:"registerTime"`
	UnregisterTime      *float64      `json:"unregisterTime"`
	PausedRanges        []any         `json:"pausedRanges"`
	Name                string        `json:"name"`
	ProcessName         string        `json:"processName,omitempty"`
	IsMainThread        bool          `json:"isMainThread"`
	PID                 string        `json:"pid"`
	TID                 any           `json:"tid"` // a number or a text
	Samples             samples       `json:"samples"`
	Markers             markers       `json:"markers"`
	ResourceTable       resourceTable `json:"resourceTable"`
	NativeSymbols       nativeSymbols `json:"nativeSymbols"`
}

type samples struct {
	Length     int       `json:"length"`
	Stack      []*int32  `json:"stack"`
	Time       []float64 `json:"time"` // milliseconds since the start
	Weight     []float64 `json:"weight"`
	WeightType string    `json:"weightType"`
}

// The types of weights.
const (
	weightSamples = "samples"
	weightMillis  = "tracing-ms"
	weightBytes   = "bytes"
)

type stackTable struct {
	Length      int      `json:"length"`
	Prefix      []*int32 `json:"prefix"` // the caller, an earlier entry; null: none
	Frame       []int32  `json:"frame"`
	Category    []int32  `json:"category"`
	Subcategory []int32  `json:"subcategory"`
}

type frameTable struct {
	Length         int      `json:"length"`
	Address        []int64  `json:"address"` // -1: none
	InlineDepth    []int32  `json:"inlineDepth"`
	Category       []*int32 `json:"category"`
	Subcategory    []*int32 `json:"subcategory"`
	Func           []int32  `json:"func"`
	NativeSymbol   []*int32 `json:"nativeSymbol"`
	InnerWindowID  []*int64 `json:"innerWindowID"`
	Implementation []*int32 `json:"implementation"`
	Line           []*int64 `json:"line"`
	Column         []*int64 `json:"column"`
}

type funcTable struct {
	Length        int      `json:"length"`
	Name          []int32  `json:"name"`
	IsJS          []bool   `json:"isJS"`
	RelevantForJS []bool   `json:"relevantForJS"`
	Resource      []int32  `json:"resource"` // -1: none
	FileName      []*int32 `json:"fileName"`
	LineNumber    []*int64 `json:"lineNumber"`
	ColumnNumber  []*int64 `json:"columnNumber"`
}

// The other tables are empty.

type markers struct {
	Length    int   `json:"length"`
	Category  []any `json:"category"`
	Data      []any `json:"data"`
	EndTime   []any `json:"endTime"`
	Name      []any `json:"name"`
	Phase     []any `json:"phase"`
	StartTime []any `json:"startTime"`
}

type resourceTable struct {
	Length int   `json:"length"`
	Lib    []any `json:"lib"`
	Name   []any `json:"name"`
	Host   []any `json:"host"`
	Type   []any `json:"type"`
}

type nativeSymbols struct {
	Length       int   `json:"length"`
	LibIndex     []any `json:"libIndex"`
	Address      []any `json:"address"`
	Name         []any `json:"name"`
	FunctionSize []any `json:"functionSize"`
}

func noMarkers() markers {
	return markers{Category: []any{}, Data: []any{}, EndTime: []any{}, Name: []any{}, Phase: []any{}, StartTime: []any{}}
}

func noResources() resourceTable {
	return resourceTable{Lib: []any{}, Name: []any{}, Host: []any{}, Type: []any{}}
}

func noSymbols() nativeSymbols {
	return nativeSymbols{LibIndex: []any{}, Address: []any{}, Name: []any{}, FunctionSize: []any{}}
}
