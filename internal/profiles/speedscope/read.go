// SPDX-License-Identifier: Apache-2.0

package speedscope

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// content is a file. Its fields are those of the schema.
type content struct {
	Schema   string  `json:"$schema"`
	Name     string  `json:"name"`
	Profiles []track `json:"profiles"`
	Shared   struct {
		Frames []frame `json:"frames"`
	} `json:"shared"`
}

// track is one of the profiles of a file, usually of a thread.
type track struct {
	Type    string                   `json:"type"` // sampled or evented
	Name    string                   `json:"name"`
	Unit    string                   `json:"unit"`
	Start   float64                  `json:"startValue"`
	End     float64                  `json:"endValue"`
	Samples []importer.Column[int32] `json:"samples"` // frames, root first
	Weights []float64                `json:"weights"`
	Events  []event                  `json:"events"`
}

// event is the begin (O) or the end (C) of a call.
type event struct {
	Type  string        `json:"type"`
	Frame *importer.Int `json:"frame"`
	At    float64       `json:"at"`
}

// nanoseconds has the units of time.
var nanoseconds = map[string]float64{unitNanoseconds: 1, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9}

// Is reports whether data looks like a file of speedscope.
func Is(data []byte) bool {
	return strings.Contains(string(data[:min(len(data), 4096)]), "speedscope.app/file-format-schema.json")
}

// Read reads a file. Its profiles become threads. The format has no dates: the earliest profile
// begins at the time of the options.
func Read(data []byte, o importer.Options) (pprofile.Profiles, []importer.Loss, error) {
	var file content
	if err := json.Unmarshal(data, &file); err != nil {
		return pprofile.NewProfiles(), nil, fmt.Errorf("it is no file of speedscope: %w", err)
	}
	b := importer.NewBuilder(o)
	b.SetName(file.Name)
	r := reader{Builder: b, profiles: map[string]*importer.Profile{}, frames: make([]dictionary.LocationIndex, len(file.Shared.Frames))}
	for i, f := range file.Shared.Frames {
		r.frames[i] = b.Frame(importer.Frame{Name: f.Name, File: f.File, Line: int64(f.Line), Column: int64(f.Column)})
	}
	first := math.Inf(1)
	for _, t := range file.Profiles {
		first = min(first, t.Start*cmp.Or(nanoseconds[t.Unit], 1))
	}
	for _, t := range file.Profiles {
		r.track(&t, first)
	}
	return b.Finish()
}

type reader struct {
	*importer.Builder
	profiles map[string]*importer.Profile // by unit
	frames   []dictionary.LocationIndex

	out        *importer.Profile // of the current track
	attributes []dictionary.AttributeIndex
	scale      float64 // nanoseconds of a unit; 0: not time
	first      float64 // nanoseconds of the earliest track
}

func (r *reader) track(t *track, first float64) {
	r.scale, r.first = nanoseconds[t.Unit], first
	unit := t.Unit
	if r.scale > 0 {
		unit = unitNanoseconds
	}
	if _, known := r.profiles[unit]; !known {
		r.profiles[unit] = r.Profile(typeOf(unit))
	}
	if r.out = r.profiles[unit]; r.out == nil {
		return
	}
	r.attributes = r.Thread(parseThread(t.Name))
	switch t.Type {
	case "sampled":
		r.sampled(t)
	case "evented":
		r.evented(t)
	default:
		r.Lose("profiles of an unknown type", 1)
	}
}

func typeOf(unit string) importer.Type {
	switch unit {
	case unitNanoseconds:
		return importer.Type{Shape: importer.Times, Name: "wall", Unit: unit}
	case "bytes":
		return importer.Type{Shape: importer.Totals, Name: "space", Unit: unit}
	}
	return importer.Type{Shape: importer.Totals, Name: "samples", Unit: "count"}
}

func (r *reader) sampled(t *track) {
	r.Lose("samples without a weight", max(len(t.Samples)-len(t.Weights), 0))
	r.Lose("weights without a sample", max(len(t.Weights)-len(t.Samples), 0))
	at := t.Start
	for i, stack := range t.Samples[:min(len(t.Samples), len(t.Weights))] {
		node := importer.Node(0)
		for _, frame := range stack {
			node = r.call(node, frame)
		}
		r.add(node, at, t.Weights[i])
		at += t.Weights[i]
	}
}

// evented turns the time between two events into a sample of the calls that were open.
func (r *reader) evented(t *track) {
	open, at := importer.Node(0), t.Start
	for _, e := range t.Events {
		if e.At > at {
			r.add(open, at, e.At-at)
			at = e.At
		}
		called := int32(importer.None)
		if e.Frame != nil {
			called = int32(*e.Frame)
		}
		switch caller, frame := r.Caller(open); {
		case e.Type == "O":
			open = r.call(open, called)
		case e.Type == "C" && open != 0 && frame == r.frame(called):
			open = caller
		default:
			r.Lose("events that end no open call", 1)
		}
	}
	if open != 0 {
		r.Lose("calls that do not end", 1)
	}
	if t.End > at && open != 0 {
		r.add(open, at, t.End-at)
	}
}

func (r *reader) frame(i int32) dictionary.LocationIndex {
	if i < 0 || int(i) >= len(r.frames) {
		return 0
	}
	return r.frames[i]
}

func (r *reader) call(caller importer.Node, frame int32) importer.Node {
	location := r.frame(frame)
	if location == 0 {
		r.Lose("frames that do not exist or have no name", 1)
		return caller
	}
	return r.Call(caller, location)
}

func (r *reader) add(node importer.Node, at, weight float64) {
	value := r.out.Whole(weight * cmp.Or(r.scale, 1))
	if r.scale == 0 {
		r.out.Add(importer.Sample{Attributes: r.attributes, Node: node, Value: value})
		return
	}
	offset := math.Round(at*r.scale - r.first)
	if value <= 0 || offset < 0 || offset > math.MaxInt64/2 {
		r.Lose("samples without a duration", 1)
		return
	}
	r.out.Add(importer.Sample{Attributes: r.attributes, Node: node, Time: r.Start() + uint64(offset), Value: value})
}

// parseThread is the inverse of threadName. Other names are those of threads.
func parseThread(name string) (id, thread string) {
	if rest, ok := strings.CutPrefix(name, "thread "); ok && rest != "" {
		return rest, ""
	}
	if rest, ok := strings.CutSuffix(name, ")"); ok {
		if i := strings.LastIndex(rest, " (thread "); i > 0 {
			return rest[i+len(" (thread "):], rest[:i]
		}
	}
	if name == allSamples {
		return "", ""
	}
	return "", name
}
