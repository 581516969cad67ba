// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// symbolicated is the status of a location whose names are from a symbol file: symbols.OK of
// symbolicateprocessor.
const symbolicated = "ok"

// frameReader translates stacks of locations to stacks of frames: the inverse of
// fromsentry.frameTranslator. Its lookup tables cover the dictionary of a message; frames and
// stacks are those of the current profile.
type frameReader struct {
	view dictionary.View
	keys keyTable

	frames     []sentryprofile.Frame
	stacks     sentryprofile.Stacks
	frameTypes map[string]int // number of locations by type

	fromSentry bool
	stackOf    memo[stackResult]
	locationOf memo[frameRange]
	mappingOf  memo[string]                      // filenames
	long       map[dictionary.StringIndex]string // clipped texts
	limit      int                               // output limit of the message, in bytes
	mappings   []dictionary.MappingIndex         // that locations refer to, in order
	broken     int                               // dangling references

	// Scratch.
	indices  []int32
	location []dictionary.LocationIndex
	loc      dictionary.Location
	raw      rawFrame // of loc
	mapping  dictionary.Mapping
}

// frameRange is the range of a location's frames: several if calls were inlined.
type frameRange struct{ first, end int32 }

type stackResult struct {
	index  int32
	reason discard.Reason // why samples with this stack are unusable
}

// maxStackFrames and maxStackEntries bound the frames of inlined calls in one profile: a location
// of a hundred bytes can contain as many frames, and any number of stacks can refer to it. The
// deepest recorded stack has 195 frames; a stack overflow in Java is some 20,000 deep. A payload of
// 45 MB holds 16 million indices of two digits.
const (
	maxStackFrames  = 1 << 15
	maxStackEntries = 1 << 24

	bytesOfFrame, bytesOfEntry = 180, 4 // in memory
)

// open prepares the tables for a message.
func (r *frameReader) open(view dictionary.View, keys keyTable, d pprofile.ProfilesDictionary, limit int) {
	r.view, r.keys, r.limit, r.long = view, keys, limit, nil
	r.stackOf.open(d.StackTable().Len())
	r.locationOf.open(d.LocationTable().Len())
	r.mappingOf.open(d.MappingTable().Len())
	// Memory for a profile that uses the whole dictionary: growing the lists of a large profile
	// would copy them several times.
	entries := 0
	for _, stack := range d.StackTable().All() {
		entries += stack.LocationIndices().Len()
	}
	r.stacks.Reserve(d.StackTable().Len(), min(entries, r.maxEntries()))
	r.frames = slices.Grow(r.frames[:0], min(d.LocationTable().Len(), r.maxFrames()))
}

func (r *frameReader) maxFrames() int  { return min(sentry.MaxFrames, r.limit/bytesOfFrame) }
func (r *frameReader) maxEntries() int { return min(maxStackEntries, r.limit/bytesOfEntry) }

// close drops references to the message and keeps the memory.
func (r *frameReader) close() {
	clear(r.frames)
	r.mappingOf.close()
	r.view, r.keys, r.long, r.frameTypes, r.raw, r.mapping = dictionary.View{}, keyTable{}, nil, nil, rawFrame{}, dictionary.Mapping{}
}

func (r *frameReader) memoryBytes() int {
	tables, lists := r.stackOf.cap()+r.locationOf.cap()+r.mappingOf.cap(), cap(r.location)+cap(r.indices)+cap(r.mappings)
	return 120*cap(r.frames) + r.stacks.MemoryBytes() + 32*tables + 4*lists
}

// start discards the previous profile.
func (r *frameReader) start(fromSentry bool) {
	clear(r.frames) // their texts belong to the message
	r.frames, r.mappings = r.frames[:0], r.mappings[:0]
	r.stacks.Reset()
	r.frameTypes, r.broken, r.fromSentry = map[string]int{}, 0, fromSentry
	r.stackOf.clear()
	r.locationOf.clear()
	r.mappingOf.clear()
}

// stack returns the stack at an index of the stack table, or the reason why it is unusable.
func (r *frameReader) stack(index dictionary.StackIndex) (int32, discard.Reason) {
	if index < 0 || int(index) >= r.stackOf.len() && index != 0 {
		return 0, discard.ReasonMalformedSamples
	}
	if known, ok := r.stackOf.get(int(index)); ok {
		return known.index, known.reason
	}
	stack, reason := r.readStack(index)
	r.stackOf.set(int(index), stackResult{stack, reason})
	return stack, reason
}

func (r *frameReader) readStack(index dictionary.StackIndex) (int32, discard.Reason) {
	var ok bool
	if r.location, ok = r.view.Stack(index, r.location[:0]); !ok {
		r.broken++
	}
	r.indices = r.indices[:0]
	for _, location := range r.location {
		frames, known := r.locationOf.get(int(location))
		if !known {
			frames = r.read(location)
			r.locationOf.set(int(location), frames)
		}
		if frames == (frameRange{}) {
			return 0, discard.ReasonTooManyFrames
		}
		for frame := frames.first; frame < frames.end; frame++ {
			r.indices = append(r.indices, frame)
		}
		if len(r.indices) > maxStackFrames {
			return 0, discard.ReasonTooManyFrames
		}
	}
	if r.stacks.Entries()+len(r.indices) > r.maxEntries() {
		return 0, discard.ReasonTooManyFrames
	}
	return r.stacks.Append(r.indices...), ""
}

// read returns the frames of a location, or none if the limit is reached. A missing location
// becomes an empty frame: stacks keep their depth.
func (r *frameReader) read(index dictionary.LocationIndex) frameRange {
	if !r.view.Location(index, &r.loc) {
		r.broken++
	}
	if len(r.frames)+max(1, len(r.loc.Lines)) > r.maxFrames() {
		return frameRange{}
	}
	first := len(r.frames)
	var frame sentryprofile.Frame
	frameType := r.common(&r.loc, &frame)
	switch {
	case r.raw.set:
		r.setProfiled(&frame)
		r.frames, r.loc.Lines = append(r.frames, frame), nil
	case len(r.loc.Lines) == 0:
		r.frames = append(r.frames, frame)
	}
	for i, line := range r.loc.Lines {
		r.frames = append(r.frames, frame)
		f := &r.frames[len(r.frames)-1]
		r.setLine(f, line)
		if i < len(r.loc.Lines)-1 { // inlined: the address belongs to the function into which the call was inlined
			f.InstructionAddr = 0
		}
	}
	for i := first; i < len(r.frames) && !r.fromSentry; i++ {
		finish(&r.frames[i], frameType)
	}
	r.frameTypes[frameType]++
	return frameRange{int32(first), int32(len(r.frames))}
}

// common sets the fields that all frames of a location share. It sets Filename or AbsPath if the
// line's file is the other of the two.
func (r *frameReader) common(l *dictionary.Location, f *sentryprofile.Frame) (frameType string) {
	f.InstructionAddr, r.raw = l.Address, rawFrame{}
	for _, index := range l.Attributes {
		index := int32(index)
		switch r.keys.key(index) {
		case semconv.ProfileFrameType:
			frameType = r.keys.text(index)
		case semconv.SentryFrameModule:
			f.Module = r.keys.text(index)
		case semconv.SentryFramePackage:
			f.Package = r.keys.text(index)
		case semconv.SentryFramePlatform:
			f.Platform = validPlatform(r.keys.text(index))
		case semconv.SentryFrameInApp:
			f.InApp = sentryprofile.InAppFalse
			if r.keys.text(index) == "true" {
				f.InApp = sentryprofile.InAppTrue
			}
		case semconv.SentryFrameFilename:
			f.Filename = r.keys.text(index)
		case semconv.SentryFrameAbsPath:
			f.AbsPath = r.keys.text(index)
		case semconv.SymbolicationStatus:
			r.raw.set = r.raw.set || r.keys.text(index) == symbolicated
		case semconv.SentryFrameRawFunction:
			r.raw.function, r.raw.set = r.keys.text(index), true
		case semconv.SentryFrameRawModule:
			r.raw.module, r.raw.set = r.keys.text(index), true
		case semconv.SentryFrameRawFile:
			r.raw.file, r.raw.set = r.keys.text(index), true
		case semconv.SentryFrameRawLine:
			r.raw.line, r.raw.set = r.keys.value(index).Int(), true
		case semconv.SentryFrameRawColumn:
			r.raw.column, r.raw.set = r.keys.value(index).Int(), true
		case semconv.SentryFrameInstructionAddr:
			if address := parseAddress(r.keys.text(index)); address.Set {
				f.InstructionAddr = address.Value
			}
		}
	}
	if l.Mapping != 0 {
		r.refer(l.Mapping, f)
	}
	return frameType
}

// refer records a reference to a mapping. For frames from other sources, its file name is the
// package.
func (r *frameReader) refer(index dictionary.MappingIndex, f *sentryprofile.Frame) {
	filename, known := r.mappingOf.get(int(index))
	if !known {
		r.view.Mapping(index, &r.mapping)
		filename = r.text(r.mapping.Filename)
		r.mappingOf.set(int(index), filename)
		r.mappings = append(r.mappings, index)
	}
	if !r.fromSentry && f.Package == "" {
		f.Package = filename
	}
}

// setLine sets function, file and position: the inverse of fromsentry.functionFile.
func (r *frameReader) setLine(f *sentryprofile.Frame, line dictionary.Line) {
	function, ok := r.view.Function(line.Function)
	if !ok {
		r.broken++
	}
	f.Function = attr.FirstText(r.text(function.Name), r.text(function.SystemName))
	r.setPosition(f, r.text(function.Filename), line.Line, line.Column)
}

// rawFrame is a frame before its symbolication.
type rawFrame struct {
	function, module, file string
	line, column           int64
	set                    bool
}

// setProfiled sets the raw function and position of a symbolicated location: Sentry does its own
// symbolication.
func (r *frameReader) setProfiled(f *sentryprofile.Frame) {
	f.Function, f.Module = r.raw.function, attr.FirstText(r.raw.module, f.Module)
	r.setPosition(f, r.raw.file, r.raw.line, r.raw.column)
}

func (r *frameReader) setPosition(f *sentryprofile.Frame, file string, line, column int64) {
	switch {
	case f.Filename != "" || f.AbsPath != "":
		f.AbsPath = file
	case !r.fromSentry && isAbsolute(file):
		f.Filename, f.AbsPath = file, file
	default:
		f.Filename = file
	}
	f.Line, f.Column = position(line), position(column)
}

// text returns an entry of the string table, clipped. Any number of frames may refer to it.
func (r *frameReader) text(index dictionary.StringIndex) string {
	text := r.view.Text(index)
	if len(text) <= attr.MaxFrameText {
		return text
	}
	clipped, known := r.long[index]
	if !known {
		if r.long == nil {
			r.long = map[dictionary.StringIndex]string{}
		}
		clipped = attr.Clip(text, attr.MaxFrameText)
		r.long[index] = clipped
	}
	return clipped
}

// position returns a line or column number; 0 = none.
func position(number int64) uint32 {
	if number < 0 || number > math.MaxUint32 {
		return 0
	}
	return uint32(number)
}

// isAbsolute reports whether a file is an absolute path of Unix or Windows, or a URL.
func isAbsolute(file string) bool {
	return strings.HasPrefix(file, "/") || strings.Contains(file, "://") || len(file) > 2 && file[1] == ':' && (file[2] == '\\' || file[2] == '/')
}

// finish adds the fields that Sentry's SDKs set to a frame from another source.
func finish(f *sentryprofile.Frame, frameType string) {
	f.Function, f.Module = splitFunction(*f, frameType)
	if f.InApp == sentryprofile.InAppAbsent {
		f.InApp = inAppOf(f, frameType)
	}
	f.Platform = attr.FirstText(f.Platform, platformOfFrames[frameType])
}

// settlePlatform returns the platform of the profile: the stated one, else that of most frames.
// Native and kernel frames count only if there are no others, because such code runs below every
// language. Frames of the resulting platform then need no platform.
func (r *frameReader) settlePlatform(stated string) string {
	platform := stated
	if platform == "" {
		most := 0
		for frameType, count := range r.frameTypes {
			word := platformOfFrames[frameType]
			if word == nativePlatform || word == "" {
				continue
			}
			if count > most || count == most && word < platform {
				platform, most = word, count
			}
		}
	}
	if platform == "" {
		platform = otherPlatform
		if r.frameTypes["native"]+r.frameTypes["kernel"] > 0 {
			platform = nativePlatform
		}
	}
	if !r.fromSentry {
		for i := range r.frames {
			if f := &r.frames[i]; isSame(f.Platform, platform) {
				f.Platform = ""
			}
		}
	}
	return platform
}

// isSame reports whether the usual platform of a frame type is the same as the profile's platform.
func isSame(frame, profile string) bool {
	switch profile {
	case "javascript":
		return frame == "node"
	case "android":
		return frame == "java"
	case "cocoa", "rust", "c":
		return frame == nativePlatform
	}
	return frame == profile
}

// The functions below derive the fields that Sentry's SDKs set, for frames of other profilers.

const nativePlatform = "native"

// platformOfFrames are Sentry's platforms for values of profile.frame.type.
var platformOfFrames = map[string]string{
	"beam": "elixir", "cpython": "python", "cuda": nativePlatform, "dotnet": "csharp", "go": "go", attr.HermesFrameType: "javascript", "jvm": "java",
	"kernel": nativePlatform, "luajit": otherPlatform, "native": nativePlatform, "perl": "perl", "php": "php", "ruby": "ruby",
	"rust": "rust", "v8js": "node",
}

// splitFunction splits the module from the function name, where OpenTelemetry's profilers write it
// in front: Sentry groups by module.
//
//	go   net/http.(*Server).Serve  →  net/http, (*Server).Serve
//	jvm  java.lang.Thread.run      →  java.lang.Thread, run
func splitFunction(f sentryprofile.Frame, frameType string) (function, module string) {
	if f.Module != "" {
		return f.Function, f.Module
	}
	switch frameType {
	case "go":
		return stacktext.SplitGo(f.Function)
	case "jvm":
		name, _, _ := strings.Cut(f.Function, "(") // async-profiler writes signatures
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			return f.Function[dot+1:], f.Function[:dot]
		}
	}
	return f.Function, ""
}

// inAppOf classifies frames of languages for which Sentry has no rule and assumes false. For the
// other languages it returns absent, so that Sentry's rule applies.
func inAppOf(f *sentryprofile.Frame, frameType string) sentryprofile.InApp {
	switch frameType {
	case "cpython", "php", "rust", "v8js", attr.HermesFrameType:
		return sentryprofile.InAppAbsent
	}
	if inapp.Compiled(inapp.Frame{
		Type: frameType, Function: f.Function, Module: f.Module, File: attr.FirstText(f.AbsPath, f.Filename), Package: f.Package,
	}) {
		return sentryprofile.InAppTrue
	}
	return sentryprofile.InAppFalse
}

// images returns the debug images of a profile: the mappings to which its frames refer, then images
// that were never mappings. Ingest rejects profiles with an image of an unknown type or with an
// invalid ID, so such images are repaired or dropped.
func (r *frameReader) images(profile pprofile.Profile, e *Export) (images []sentryprofile.Image) {
	known, size := map[imageKey]int{}, 0
	keep := func(image sentryprofile.Image) {
		repaired, ok := sentryprofile.RepairImage(image)
		if !ok {
			e.Flaw("image", 1)
			return
		}
		if key := (imageKey{repaired.DebugID, repaired.Addr}); key.isUnique() {
			if i, again := known[key]; again {
				images[i].Size.Value = max(images[i].Size.Value, repaired.Size.Value)
				return
			}
			known[key] = len(images)
		}
		if size += textOfImage(&repaired); size > maxImageText || len(images) == sentry.MaxImages {
			delete(known, imageKey{repaired.DebugID, repaired.Addr})
			e.Flaw("image", 1)
			return
		}
		images = append(images, repaired)
	}
	for _, index := range r.mappings {
		if image, ok := r.image(index); ok {
			keep(image)
		}
	}
	if value, ok := r.view.Get(profile.AttributeIndices(), semconv.SentryDebugMetaImages); ok && value.Type() == pcommon.ValueTypeSlice {
		for i, entry := range value.Slice().All() {
			if i == sentry.MaxImages {
				e.Flaw("image", value.Slice().Len()-i)
				break
			}
			if entry.Type() == pcommon.ValueTypeMap {
				keep(readImage(entry.Map()))
			}
		}
	}
	e.Flaw("dictionary_reference", r.broken)
	return images
}

// maxImageText bounds the texts of all images of a profile, which each of its chunks repeats:
// 20,000 images of 200 bytes.
const maxImageText = 4 << 20

func textOfImage(image *sentryprofile.Image) (size int) {
	for _, text := range attr.ImageTexts {
		size += len(*attr.ImageText(image, text.Member))
	}
	return size
}

// imageKey is equal for the segments of one file: separate mappings, but one image.
type imageKey struct {
	debugID string
	addr    jsonscan.Address
}

func (k imageKey) isUnique() bool { return k.debugID != "" && k.addr.Set }

// image is the inverse of fromsentry.imageMap.translate, for mappings of any origin. ok is false if
// the mapping has no ID that symbol servers know; Go's build ID is an example.
func (r *frameReader) image(index dictionary.MappingIndex) (image sentryprofile.Image, ok bool) {
	r.view.Mapping(index, &r.mapping)
	m := &r.mapping
	image.CodeFile = r.text(m.Filename)
	buildID := ""
	for _, index := range m.Attributes {
		index := int32(index)
		switch key := r.keys.key(index); key {
		case "":
		case semconv.ProcessExecutableBuildIDGNU:
			buildID = r.keys.text(index)
		case semconv.SentryImageVMAddr:
			image.VMAddr = parseAddress(r.keys.text(index))
		default:
			for _, text := range attr.ImageTexts {
				if text.Key == key {
					*attr.ImageText(&image, text.Member) = r.keys.text(index)
				}
			}
		}
	}
	if buildID == image.BuildID() {
		buildID = "" // it is derived from the debug ID
	}
	image.CodeID = attr.FirstText(buildID, image.CodeID)
	if buildID != "" && image.Type == "" {
		image.Type = "elf"
	}

	// The image begins at the address of file offset 0; the mapping is the segment at FileOffset.
	begin := m.Start
	if m.FileOffset <= begin {
		begin -= m.FileOffset
	}
	image.Addr = jsonscan.Address{Value: begin, Set: true}
	if m.Limit > begin {
		image.Size = jsonscan.Uint{Value: m.Limit - begin, Set: true}
	}
	return image, image.DebugID != "" || image.UUID != "" || buildID != ""
}

// readImage is the inverse of fromsentry.attributeList.images.
func readImage(m pcommon.Map) sentryprofile.Image {
	image := sentryprofile.Image{Addr: parseAddress(attr.TextOf(m, "image_addr")), VMAddr: parseAddress(attr.TextOf(m, "image_vmaddr"))}
	for _, text := range attr.ImageTexts {
		*attr.ImageText(&image, text.Member) = attr.TextOf(m, text.Member)
	}
	if size, err := strconv.ParseUint(attr.TextOf(m, "image_size"), 10, 64); err == nil {
		image.Size = jsonscan.Uint{Value: size, Set: true}
	}
	return image
}

func parseAddress(text string) jsonscan.Address {
	value, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return jsonscan.Address{Value: value, Set: err == nil}
}
