// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"encoding/hex"
	"encoding/json"
	"sort"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// A translation to Sentry without a custom writer: structs with tags, filled from the dictionary
// with one lookup for each frame and stack, sorted, and marshalled by encoding/json. It supports
// only the fields in the payloads of the benchmarks, and does not check Sentry's rules.

// OutChunk is the payload of an exported chunk.
type OutChunk struct {
	Version     string     `json:"version"`
	ProfilerID  string     `json:"profiler_id"`
	ChunkID     string     `json:"chunk_id"`
	Platform    string     `json:"platform"`
	Release     string     `json:"release"`
	Environment string     `json:"environment,omitempty"`
	ClientSDK   SDK        `json:"client_sdk"`
	DebugMeta   *outImages `json:"debug_meta,omitempty"`
	Profile     outProfile `json:"profile"`
}

type outImages struct {
	Images []outImage `json:"images"`
}

type outImage struct {
	Type     string `json:"type"`
	CodeFile string `json:"code_file"`
	DebugID  string `json:"debug_id"`
	Addr     string `json:"image_addr"`
	VMAddr   string `json:"image_vmaddr,omitempty"`
	Size     uint64 `json:"image_size"`
}

type outProfile struct {
	Samples []ChunkSample             `json:"samples"`
	Stacks  [][]int                   `json:"stacks"`
	Frames  []outFrame                `json:"frames"`
	Threads map[string]ThreadMetadata `json:"thread_metadata"`
}

type outFrame struct {
	Function        string `json:"function,omitempty"`
	Module          string `json:"module,omitempty"`
	Filename        string `json:"filename,omitempty"`
	AbsPath         string `json:"abs_path,omitempty"`
	Platform        string `json:"platform,omitempty"`
	InstructionAddr string `json:"instruction_addr,omitempty"`
	Line            uint32 `json:"lineno,omitempty"`
	Column          uint32 `json:"colno,omitempty"`
	InApp           *bool  `json:"in_app,omitempty"`
}

// MarshalChunk returns the payload of the first profile of a message.
func MarshalChunk(profiles pprofile.Profiles) ([]byte, error) {
	resource := profiles.ResourceProfiles().At(0)
	profile := resource.ScopeProfiles().At(0).Profiles().At(0)
	e := exporter{view: dictionary.NewView(profiles.Dictionary()), stacks: map[int32]int{}, frames: map[int32]int{}, mappings: map[int32]bool{}}
	attributes := resource.Resource().Attributes()
	id := profile.ProfileID()
	e.out = OutChunk{
		Version: "2", ProfilerID: e.attribute(profile.AttributeIndices(), "sentry.profiler_id"), ChunkID: hex.EncodeToString(id[:]),
		Platform: text(attributes, "sentry.platform"), Release: text(attributes, "sentry.release"),
		Environment: text(attributes, "deployment.environment.name"),
		ClientSDK:   SDK{Name: text(attributes, "telemetry.sdk.name"), Version: text(attributes, "telemetry.sdk.version")},
	}
	e.out.Profile.Threads = map[string]ThreadMetadata{}
	for _, sample := range profile.Samples().All() {
		e.sample(sample, profiles.Dictionary())
	}
	samples := e.out.Profile.Samples
	sort.Slice(samples, func(i, j int) bool { return samples[i].Timestamp < samples[j].Timestamp })
	return json.Marshal(&e.out)
}

type exporter struct {
	view     dictionary.View
	out      OutChunk
	stacks   map[int32]int
	frames   map[int32]int
	mappings map[int32]bool
}

func (e *exporter) sample(sample pprofile.Sample, d pprofile.ProfilesDictionary) {
	thread := e.attribute(sample.AttributeIndices(), "thread.id")
	if _, known := e.out.Profile.Threads[thread]; !known {
		e.out.Profile.Threads[thread] = ThreadMetadata{Name: e.attribute(sample.AttributeIndices(), "thread.name")}
	}
	stack, known := e.stacks[sample.StackIndex()]
	if !known {
		stack = len(e.out.Profile.Stacks)
		e.stacks[sample.StackIndex()] = stack
		frames := []int{}
		for _, location := range d.StackTable().At(int(sample.StackIndex())).LocationIndices().All() {
			frames = append(frames, e.frame(location))
		}
		e.out.Profile.Stacks = append(e.out.Profile.Stacks, frames)
	}
	for _, time := range sample.TimestampsUnixNano().All() {
		e.out.Profile.Samples = append(e.out.Profile.Samples, ChunkSample{Timestamp: float64(time) / 1e9, ThreadID: thread, StackID: stack})
	}
}

func (e *exporter) frame(index int32) int {
	if frame, known := e.frames[index]; known {
		return frame
	}
	var l dictionary.Location
	e.view.Location(dictionary.LocationIndex(index), &l)
	var f outFrame
	if l.Address != 0 {
		f.InstructionAddr = "0x" + strconv.FormatUint(l.Address, 16)
	}
	for _, index := range l.Attributes {
		a, _ := e.view.Attribute(index)
		switch a.Key {
		case "sentry.frame.module":
			f.Module = a.Value.Str()
		case "sentry.frame.platform":
			f.Platform = a.Value.Str()
		case "sentry.frame.filename":
			f.Filename = a.Value.Str()
		case "sentry.frame.abs_path":
			f.AbsPath = a.Value.Str()
		case "sentry.frame.in_app":
			inApp := a.Value.Bool()
			f.InApp = &inApp
		}
	}
	if len(l.Lines) > 0 {
		function, _ := e.view.Function(l.Lines[0].Function)
		f.Function = e.view.Text(function.Name)
		f.Line, f.Column = uint32(l.Lines[0].Line), uint32(l.Lines[0].Column)
		if file := e.view.Text(function.Filename); f.Filename != "" || f.AbsPath != "" {
			f.AbsPath = file
		} else {
			f.Filename = file
		}
	}
	if l.Mapping != 0 {
		e.image(l.Mapping)
	}
	e.frames[index] = len(e.out.Profile.Frames)
	e.out.Profile.Frames = append(e.out.Profile.Frames, f)
	return e.frames[index]
}

func (e *exporter) image(index dictionary.MappingIndex) {
	if e.mappings[int32(index)] {
		return
	}
	e.mappings[int32(index)] = true
	var m dictionary.Mapping
	e.view.Mapping(index, &m)
	image := outImage{CodeFile: e.view.Text(m.Filename), Addr: "0x" + strconv.FormatUint(m.Start, 16), Size: m.Limit - m.Start}
	for _, index := range m.Attributes {
		a, _ := e.view.Attribute(index)
		switch a.Key {
		case "sentry.image.type":
			image.Type = a.Value.Str()
		case "sentry.debug_id":
			image.DebugID = a.Value.Str()
		case "sentry.image.vmaddr":
			image.VMAddr = a.Value.Str()
		}
	}
	if e.out.DebugMeta == nil {
		e.out.DebugMeta = &outImages{}
	}
	e.out.DebugMeta.Images = append(e.out.DebugMeta.Images, image)
}

func (e *exporter) attribute(indices pcommon.Int32Slice, key string) string {
	if value, ok := e.view.Get(indices, key); ok {
		return value.AsString()
	}
	return ""
}

func text(attributes pcommon.Map, key string) string {
	if value, ok := attributes.Get(key); ok {
		return value.AsString()
	}
	return ""
}
