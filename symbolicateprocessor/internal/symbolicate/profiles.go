// SPDX-License-Identifier: Apache-2.0

// Package symbolicate writes names, files and lines from symbol files into OTLP profiles. Minified
// frames have short names and positions in a bundle; obfuscated frames have short class and method
// names; native frames have addresses.
//
// # Positions in profiles
//
// The profilers of V8 report where a function is defined, not where it was running:
//
//	browser    line and column of the definition: the parenthesis of the parameters
//	node       column of the definition; line of the call, in the file of the caller
//	stacks     line and column of the code that was running, or of the call (exceptions)
//
// Android traces contain class, method and signature, but usually no line.
//
// Native frames have an address in a mapping. The innermost frame of a stack has the address of the
// current instruction, the others have return addresses, unless the profiler has already subtracted
// one.
//
// # Output
//
//	Location            lines: function, file and line from the symbol file, innermost first
//	                    attributes: symbolication.status, and the raw frame: function, file, line, column
//	Function            name: original; system_name: as the profiler reported it
//
// Locations are rewritten in place, so stacks do not change. A message stays unchanged if no symbol
// file is known for any of its frames. Sentry receives raw frames: the exporter reads them from the
// attributes.
package symbolicate

import (
	"cmp"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

// Files finds symbol files. It never waits: a file that is not ready yet is Pending.
type Files interface {
	// Script returns a generated JavaScript file. The status is OK if and only if the file is not
	// nil.
	Script(ScriptID) (*sourcemap.File, symbols.Status)
	// Mapping returns the ProGuard mapping with a UUID. The status is OK if and only if the mapping
	// is not nil.
	Mapping(uuid string) (*proguard.Mapping, symbols.Status)
	// Native returns the functions of a program or a library. The status is OK if and only if the
	// table is not nil.
	Native(NativeID) (*native.Table, symbols.Status)
}

// ScriptID identifies a generated JavaScript file.
type ScriptID struct {
	DebugID string // empty if unknown
	URL     string // or path
	Release string // of the application; empty if unknown
}

// Counts is the number of frames by result.
type Counts map[symbols.Status]int

// Write writes the names that were found for a message. Until then, the message is unchanged.
type Write func() Counts

// Profiles asks for the files of the unresolved locations of a message, and finds their names.
func Profiles(p pprofile.Profiles, files Files) Write {
	e := &editor{
		view: dictionary.NewView(p.Dictionary()), dict: p.Dictionary(), files: files, counts: Counts{},
		uses: make([]use, p.Dictionary().LocationTable().Len()), stacks: make([]int32, p.Dictionary().StackTable().Len()),
		scripts: map[ScriptID]script{}, scriptOf: map[scriptKey]script{},
		texts: map[dictionary.AttributeIndex]string{}, images: map[int32]imagesOf{}, modules: map[dictionary.MappingIndex]*module{}, leaves: map[dictionary.LocationIndex]dictionary.LocationIndex{},
	}
	e.readAttributes()
	e.collectUses(p)
	for i := range e.uses {
		if e.uses[i].source != nil {
			e.ask(dictionary.LocationIndex(i), &e.uses[i])
		}
	}
	return func() Counts { return e.writeFound(p) }
}

// writeFound writes the names of the locations whose file is open.
func (e *editor) writeFound(p pprofile.Profiles) Counts {
	for i := range e.uses {
		if u := &e.uses[i]; u.lookup != nil {
			f, _ := e.candidate(dictionary.LocationIndex(i))
			e.counts[u.lookup(e, f, u)]++
		}
	}
	e.moveLeaves()
	if e.edit == nil {
		return e.counts
	}
	eachProfile(p, func(_ pcommon.Resource, _ string, profile pprofile.Profile) { payload.Clear(profile) })
	if e.mayBeEqual {
		dictionary.Compact(p)
	} else {
		prune(p)
	}
	return e.counts
}

// editor writes names into one message.
type editor struct {
	view   dictionary.View
	dict   pprofile.ProfilesDictionary
	files  Files
	counts Counts

	sources    []*source
	images     map[int32]imagesOf                   // by attribute
	texts      map[dictionary.AttributeIndex]string // of labels that are no text
	uses       []use                                // by location
	stacks     []int32                              // by stack: number of the last source that was recorded for it
	attributes []role                               // by attribute of the message
	scripts    map[ScriptID]script
	scriptOf   map[scriptKey]script
	modules    map[dictionary.MappingIndex]*module
	leaves     map[dictionary.LocationIndex]dictionary.LocationIndex // location → its copy for stacks in which it is the leaf

	changes

	// Scratch.
	loc     dictionary.Location
	labels  labels // of loc
	mapping dictionary.Mapping
	found   []symbols.Frame
}

// script is the file of a frame. The status is "" if the file cannot be a script.
type script struct {
	file   *sourcemap.File
	status symbols.Status
}

type scriptKey struct {
	source int32
	file   dictionary.StringIndex
}

// source states how to read the frames of a profile. Profiles with equal sources share one.
type source struct {
	number    int32 // from 1
	callLines bool  // node: the line is that of the call
	addresses addresses
	images    int32  // position of the images in the attribute table
	stated    string // mapping that the resource states, see MappingOf
	debugIDs  map[string]string
	release   string
	obfuscation
}

// use is the source of a location, and its roles in stacks.
type use struct {
	source  *source
	mixed   bool // profiles with different sources refer to it
	builds  bool // profiles with different ProGuard mappings, or with and without one, refer to it
	address bool // profiles with different kinds of addresses refer to it
	leaf    bool // innermost frame of a stack
	caller  bool // other frame of a stack

	lookup func(*editor, candidate, *use) symbols.Status // writes its names; nil if it has no open file
}

// collectUses records the source of each location.
func (e *editor) collectUses(p pprofile.Profiles) {
	var ofScope scopeSources
	eachProfile(p, func(resource pcommon.Resource, scope string, profile pprofile.Profile) {
		if ofScope.resource != resource || ofScope.scope != scope || ofScope.known == nil {
			ofScope = newScopeSources(resource, scope)
		}
		s := e.sourceOf(&ofScope, profile)
		for _, sample := range profile.Samples().All() {
			i := sample.StackIndex()
			if i <= 0 || int(i) >= len(e.stacks) || e.stacks[i] == s.number {
				continue
			}
			e.stacks[i] = s.number
			locations := e.dict.StackTable().At(int(i)).LocationIndices()
			for depth := range locations.Len() {
				if l := locations.At(depth); l > 0 && int(l) < len(e.uses) {
					e.uses[l].add(s, depth)
				}
			}
		}
	})
}

func (u *use) add(s *source, depth int) {
	if u.source != s {
		if u.source != nil {
			u.mixed = true
			u.builds = u.builds || u.source.uuid != s.uuid
			u.address = u.address || u.source.addresses != s.addresses
		}
		u.source = s
	}
	if depth == 0 {
		u.leaf = true
	} else {
		u.caller = true
	}
}

func eachProfile(p pprofile.Profiles, visit func(resource pcommon.Resource, scope string, profile pprofile.Profile)) {
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				visit(resource.Resource(), scope.Scope().Name(), profile)
			}
		}
	}
}

// maxSources is the maximum number of sources in a message. Additional sources share the last one,
// which has no images.
const maxSources = 1000

// scopeSources are the sources of the profiles of a scope, by their images. A scope may have many
// profiles, and a long text.
type scopeSources struct {
	resource pcommon.Resource
	scope    string
	common   source
	known    map[int32]*source
}

func newScopeSources(resource pcommon.Resource, scope string) scopeSources {
	return scopeSources{resource: resource, scope: scope, known: map[int32]*source{}, common: source{
		callLines: isNode(resource), addresses: addressesOf(resource, scope), release: Release(resource.Attributes()),
		stated: MappingOf(resource.Attributes()),
	}}
}

// imagesOf has the parts of an attribute with images.
type imagesOf struct {
	debugIDs map[string]string
	mapping  string
}

func (e *editor) sourceOf(scope *scopeSources, profile pprofile.Profile) *source {
	images := int32(0)
	for _, i := range profile.AttributeIndices().All() {
		if a, _ := e.view.Attribute(dictionary.AttributeIndex(i)); a.Key == semconv.SentryDebugMetaImages {
			images = i
		}
	}
	if scope.known[images] == nil {
		s := scope.common
		s.images = images
		scope.known[images] = e.newSource(&s)
	}
	return scope.known[images]
}

// newSource adds a source, unless there is an equal one.
func (e *editor) newSource(s *source) *source {
	for _, known := range e.sources {
		if known.callLines == s.callLines && known.images == s.images && known.addresses == s.addresses && known.stated == s.stated && known.release == s.release {
			return known
		}
	}
	if len(e.sources) == maxSources {
		return e.sources[maxSources-1] // without images
	}
	if len(e.sources) < maxSources-1 {
		images, known := e.images[s.images]
		if !known {
			a, _ := e.view.Attribute(dictionary.AttributeIndex(s.images))
			images = imagesOf{DebugIDs(a.Value), MappingID(a.Value)}
			e.images[s.images] = images
		}
		s.debugIDs, s.uuid = images.debugIDs, cmp.Or(images.mapping, s.stated)
	}
	e.sources = append(e.sources, s)
	s.number = int32(len(e.sources))
	return s
}

// isNode reports whether the profiles of a resource are from Node's profiler.
func isNode(resource pcommon.Resource) bool {
	language := attr.TextOf(resource.Attributes(), semconv.TelemetrySDKLanguage)
	return language == "nodejs" || language == "" && attr.TextOf(resource.Attributes(), semconv.SentryPlatform) == "node"
}

// Release returns the release that a resource states, as in the builds of the application, or "".
func Release(resource pcommon.Map) string {
	if release := attr.TextOf(resource, semconv.SentryRelease); release != "" {
		return release
	}
	return attr.TextOf(resource, semconv.ServiceVersion)
}

// DebugIDs returns the debug IDs of scripts by URL or path, from the images that Sentry's SDKs
// report.
func DebugIDs(images pcommon.Value) map[string]string {
	ids := map[string]string{}
	for image := range attr.Maps(images) {
		if id := attr.TextOf(image, "debug_id"); attr.TextOf(image, "type") == "sourcemap" && id != "" {
			ids[attr.TextOf(image, "code_file")] = id
		}
	}
	return ids
}

// ask asks for the file of one location, if it is an unresolved frame.
func (e *editor) ask(i dictionary.LocationIndex, u *use) {
	f, ok := e.candidate(i)
	if !ok {
		return
	}
	status := symbols.Ambiguous
	switch {
	case e.labels.kind == v8 && e.scriptAt(u.source, f.function.Filename).status != "":
		if !u.mixed {
			status, u.lookup = e.scriptAt(u.source, f.function.Filename).status, (*editor).script
		}
	case e.labels.kind == jvm && e.labels.class != 0 && (u.builds || u.source.uuid != ""):
		if !u.builds {
			status, u.lookup = u.source.obfuscation.ask(e.files), (*editor).method
		}
	case e.isNative(f):
		if !u.address {
			status, u.lookup = e.module().ask(e.files), (*editor).native
		}
	default:
		return
	}
	if status != symbols.OK {
		e.counts[status]++
		u.lookup = nil
	}
}

// candidate is a location with one line or none.
type candidate struct {
	at       dictionary.LocationIndex
	line     dictionary.Line
	function dictionary.Function
}

// candidate reads a location. ok is false if it has names already.
func (e *editor) candidate(i dictionary.LocationIndex) (f candidate, ok bool) {
	e.view.Location(i, &e.loc)
	e.readLabels()
	if len(e.loc.Lines) > 1 || e.labels.done {
		return f, false
	}
	f.at = i
	if len(e.loc.Lines) == 1 {
		f.line = e.loc.Lines[0]
	}
	f.function, _ = e.view.Function(f.line.Function)
	return f, true
}

// maxScripts is the maximum number of script files in a message: Node applications without a
// bundler have a few hundred.
const maxScripts = 1000

// scriptAt returns the script of a file name in the profiles of a source.
func (e *editor) scriptAt(s *source, file dictionary.StringIndex) script {
	key := scriptKey{s.number, file}
	known, ok := e.scriptOf[key]
	if ok {
		return known
	}
	if url := e.view.Text(file); IsScript(url) {
		id := ScriptID{DebugID: s.debugIDs[url], URL: url, Release: s.release}
		if known, ok = e.scripts[id]; !ok {
			known.status = symbols.MissingFile
			if len(e.scripts) < maxScripts {
				known.file, known.status = e.files.Script(id)
				e.scripts[id] = known
			}
		}
	}
	e.scriptOf[key] = known
	return known
}

// script looks up a JavaScript frame, and writes the result.
func (e *editor) script(f candidate, u *use) (status symbols.Status) {
	file, raw := e.scriptAt(u.source, f.function.Filename).file, e.view.Text(f.function.Name)
	if u.source.callLines {
		e.found, status = file.DefinitionInColumn(e.found[:0], raw, f.line.Column)
	} else {
		e.found, status = file.Definition(e.found[:0], raw, f.line.Line, f.line.Column)
	}
	e.write(f, status)
	return status
}

// maxURL is the longest URL or path of a script.
const maxURL = 4096

// IsScript reports whether a file can have a source map. V8's own frames have no file, and Node's
// own files start with "node:".
func IsScript(url string) bool {
	return url != "" && len(url) <= maxURL && !strings.HasPrefix(url, "node:") && !strings.HasPrefix(url, "native ") && url[0] != '<'
}
