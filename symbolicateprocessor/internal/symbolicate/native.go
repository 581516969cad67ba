// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// NativeID identifies a program or a library. One of the two is enough.
type NativeID struct {
	BuildID string // the GNU build ID, in hex
	DebugID string // Sentry's debug ID: LC_UUID, or derived from the build ID; with or without dashes and age
}

// addresses is the kind of addresses that a profiler reports.
type addresses uint8

const (
	// walked: as found on the stack of a suspended thread. The addresses of callers are return
	// addresses.
	walked addresses = iota
	// adjusted: the addresses of callers point into the call instruction. libunwindstack (Android)
	// adjusts them.
	adjusted
	// linked: adjusted, and converted to the addresses that the linker assigned. The eBPF profiler
	// converts addresses and mapping ranges.
	linked
)

func addressesOf(resource pcommon.Resource, scope string) addresses {
	switch {
	case strings.Contains(scope, "ebpf-profiler"):
		return linked
	case attr.TextOf(resource.Attributes(), semconv.SentryPlatform) == "android", attr.TextOf(resource.Attributes(), semconv.OSName) == "Android":
		return adjusted
	}
	return walked
}

// module is a mapping.
type module struct {
	id            NativeID
	start, offset uint64
	image         bool // the mapping is the whole image, as Sentry's SDKs report it
	apple         bool // the SDK reports the name of the nearest exported symbol, which may be wrong
	table         *native.Table
	status        symbols.Status // "" = not asked yet
}

// ask asks for the file once.
func (m *module) ask(files Files) symbols.Status {
	if m.status == "" {
		m.table, m.status = files.Native(m.id)
	}
	return m.status
}

// module returns the mapping of the current location. Its ID is empty if the location has none.
func (e *editor) module() *module {
	m := e.modules[e.loc.Mapping]
	if m != nil {
		return m
	}
	m = &module{}
	e.modules[e.loc.Mapping] = m
	if e.loc.Mapping == 0 {
		return m
	}
	e.view.Mapping(e.loc.Mapping, &e.mapping)
	m.start, m.offset = e.mapping.Start, e.mapping.FileOffset
	imageType := "elf"
	for _, i := range e.mapping.Attributes {
		switch a, _ := e.view.Attribute(i); a.Key {
		case semconv.ProcessExecutableBuildIDGNU:
			m.id.BuildID = idOf(a.Value)
		case semconv.SentryDebugID:
			m.id.DebugID, m.image = idOf(a.Value), true
		case semconv.SentryImageType:
			imageType = a.Value.AsString()
			m.image, m.apple = true, imageType == "macho"
		}
	}
	if imageType != "elf" {
		m.id.BuildID = "" // it is derived from the debug ID, and debuginfod has only ELF files
	}
	return m
}

// maxID is longer than any ID of a symbol file: of the SHA-256 of a program, in hex.
const maxID = 128

// idOf returns the text of an ID, or "" if it is none. Any number of mappings can refer to a text.
func idOf(v pcommon.Value) string {
	if v.Type() != pcommon.ValueTypeStr || len(v.Str()) > maxID {
		return ""
	}
	return v.Str()
}

// address converts an address in a profile to an address in the symbol file.
func (m *module) address(address uint64, kind addresses) (uint64, bool) {
	switch {
	case kind == linked:
		return address, true
	case address < m.start:
		return 0, false
	case m.image:
		return m.table.Base() + address - m.start, true
	}
	return m.table.Address(address - m.start + m.offset)
}

// isNative reports whether the current location is an address of a known program without a usable
// name.
func (e *editor) isNative(f candidate) bool {
	if e.loc.Address == 0 || f.line.Line != 0 {
		return false
	}
	m := e.module()
	return m.id != NativeID{} && (m.apple || isUnnamed(e.view.Text(f.function.Name)))
}

// isUnnamed reports whether a name is a placeholder: SDKs use the address, Apple's systems use
// <redacted>.
func isUnnamed(name string) bool {
	if name == "" || name == "<redacted>" || name == "<unknown>" {
		return true
	}
	digits, ok := strings.CutPrefix(name, "0x")
	if len(digits) > maxDigits { // ParseUint would read, and copy, all of it
		return false
	}
	_, err := strconv.ParseUint(digits, 16, 64)
	return ok && err == nil
}

// maxDigits is the number of digits of an address of 64 bits.
const maxDigits = 16

// native looks up an address, and writes the result.
func (e *editor) native(f candidate, u *use) symbols.Status {
	m := e.module()
	address, ok := m.address(e.loc.Address, u.source.addresses)
	if !ok {
		return symbols.NoSymbol
	}
	if u.source.addresses != walked || !u.caller {
		return e.writeNative(f, m, address, native.Leaf)
	}
	if !u.leaf {
		return e.writeNative(f, m, address, native.Caller)
	}
	// In both roles: if the names differ, stacks in which it is the leaf get a location of their
	// own.
	e.found, _ = m.table.Lookup(e.found[:0], address, native.Leaf)
	leaf := slices.Clone(e.found)
	e.found, _ = m.table.Lookup(e.found[:0], address, native.Caller)
	if !slices.Equal(leaf, e.found) {
		e.startEdit()
		copied := e.edit.Location(e.loc)
		e.refer(f.line.Function, 1)
		e.mayBeEqual = true
		e.leaves[f.at] = copied
		e.writeNative(candidate{copied, f.line, f.function}, m, address, native.Leaf)
	}
	return e.writeNative(f, m, address, native.Caller)
}

func (e *editor) writeNative(f candidate, m *module, address uint64, use native.Use) (status symbols.Status) {
	e.found, status = m.table.Lookup(e.found[:0], address, use)
	e.write(f, status)
	return status
}

// moveLeaves changes the innermost frames of stacks to refer to their own locations.
func (e *editor) moveLeaves() {
	if len(e.leaves) == 0 {
		return
	}
	for _, stack := range e.dict.StackTable().All() {
		list := stack.LocationIndices()
		if list.Len() == 0 {
			continue
		}
		if leaf, ok := e.leaves[dictionary.LocationIndex(list.At(0))]; ok {
			list.SetAt(0, int32(leaf))
		}
	}
}
