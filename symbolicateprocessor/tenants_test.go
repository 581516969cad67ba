// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

var (
	appA = tenant.Tenant{Ingress: tenant.Measure, Name: "a"}
	appB = tenant.Tenant{Ingress: tenant.Measure, Name: "b"}

	// allTenants has names that equal those of apps, with other credentials.
	allTenants = []tenant.Tenant{anyone, appA, appB, {Ingress: tenant.Sentry, Name: "a"}, {Ingress: tenant.Sentry, Name: "42"}, {Ingress: tenant.Other, Name: "a"}}
)

const (
	gnuID     = "0123456789abcdef0123456789abcdef01234567"
	appleID   = "11111111111111111111111111111111"
	mappingID = "3f2b7c1e-8d4a-5e65-9b0c-73656e747279"
)

// identity is an identity of one kind of symbol file.
type identity struct {
	name string
	id   string                                     // in hex, or ""
	kind string                                     // of uploads to the measure receiver that have the identity, or ""
	path string                                     // of a file with the identity
	file func(function string) string               // its content, which names a function
	ask  func(tenantFiles) (string, symbols.Status) // the name that messages of a tenant get
}

var identities = []identity{
	{"source map by debug ID", debugID, "", "x/app.js", scriptOf, askScript(symbolicate.ScriptID{DebugID: debugID})},
	{"source map by path", "", "", "assets/plain.js", plainScript, askScript(symbolicate.ScriptID{URL: "https://shop.example/assets/plain.js"})},
	{"source map by release", "", "", "shop@1/assets/app.js", plainScript, askScript(symbolicate.ScriptID{URL: "https://shop.example/assets/app.js", Release: "shop@1"})},
	{"R8 mapping by UUID", mappingID, typeProguard, mappingID + ".txt", mappingOf, askMapping(mappingID)},
	{"R8 mapping by build of a", "", typeProguard, "", mappingOf, askMapping(symbolicate.BuildID("a", "1.0", "42"))},
	{"R8 mapping by build of b", "", typeProguard, "", mappingOf, askMapping(symbolicate.BuildID("b", "1.0", "42"))},
	{"ELF by build ID", gnuID, typeELF, "program", elfOf, askNative(symbolicate.NativeID{BuildID: gnuID}, 0x1000)},
	{"ELF by debug ID", gnuID, typeELF, "program", elfOf, askNative(symbolicate.NativeID{DebugID: "67452301-ab89-efcd-0123-456789abcdef"}, 0x1000)},
	{"Mach-O by UUID", appleID, typeDSYM, "a.dSYM/a", func(f string) string { return string(machOOf(appleID, f)) }, askNative(symbolicate.NativeID{DebugID: appleID}, 0x100001000)},
	{"Breakpad by debug ID", breakpadID, "", "shop.sym", func(f string) string { return breakpad(breakpadID, f) }, askNative(symbolicate.NativeID{DebugID: breakpadID}, 0x1000)},
}

func scriptOf(string) string    { return "a()\n//# debugId=" + debugID + "\n" }
func plainScript(string) string { return "a()" }
func mappingOf(f string) string { return f + " -> a:\n" }

// elfOf returns an ELF file with a build ID and a function at 0x1000.
func elfOf(function string) string {
	id, _ := hex.DecodeString(gnuID)
	note := append([]byte{4, 0, 0, 0, byte(len(id)), 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0}, id...)
	names := []byte("\x00" + function + "\x00")
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v)
		}
	}
	const head, load, section = 64, 56, 64
	const content = head + load + 5*section
	at := func(n int) uint64 { return uint64(content + n) }
	put(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1}, Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1,
		Phoff: head, Shoff: head + load, Ehsize: head, Phentsize: load, Phnum: 1, Shentsize: section, Shnum: 5, Shstrndx: 3,
	})
	put(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X), Vaddr: 0x1000, Filesz: 0x1000, Memsz: 0x1000})
	put(elf.Section64{}, elf.Section64{Type: uint32(elf.SHT_NOTE), Off: at(0), Size: uint64(len(note))})
	put(elf.Section64{Type: uint32(elf.SHT_SYMTAB), Off: at(len(note)), Size: 2 * elf.Sym64Size, Link: 3, Entsize: elf.Sym64Size})
	put(elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: at(len(note) + 2*elf.Sym64Size), Size: uint64(len(names))})
	put(elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: 0x1000, Size: 0x100})
	put(note, elf.Sym64{}, elf.Sym64{Name: 1, Info: byte(elf.STT_FUNC), Shndx: 4, Value: 0x1000, Size: 0x100}, names)
	b.Write(make([]byte, 0x1000)) // of the load
	return b.String()
}

func askScript(id symbolicate.ScriptID) func(tenantFiles) (string, symbols.Status) {
	return func(files tenantFiles) (string, symbols.Status) {
		file, status := files.Script(id)
		if status != symbols.OK {
			return "", status
		}
		found, status := file.Definition(nil, "a", 1, 1)
		if len(found) == 0 {
			return "", status
		}
		return strings.TrimSuffix(found[0].File, ".ts"), symbols.OK
	}
}

func askMapping(id string) func(tenantFiles) (string, symbols.Status) {
	return func(files tenantFiles) (name string, status symbols.Status) {
		m, status := files.Mapping(id)
		if status == symbols.OK {
			name, _ = m.Class("a")
		}
		return name, status
	}
}

func askNative(id symbolicate.NativeID, address uint64) func(tenantFiles) (string, symbols.Status) {
	return func(files tenantFiles) (name string, status symbols.Status) {
		table, status := files.Native(id)
		if status == symbols.OK {
			name = functionAt(table, address)
		}
		return name, status
	}
}

// put stores a file with the identity in a folder.
func (i *identity) put(h *harness, folder, function string) {
	if i.path == "" {
		return
	}
	if strings.HasSuffix(i.path, ".js") {
		h.write(folder+"/"+i.path+".map", `{"version":3,"sources":["`+function+`.ts"],"names":[],"mappings":"AAAA"}`)
	}
	h.write(folder+"/"+i.path, i.file(function))
}

// uploadAll stores all files that the receiver can store for an app, with names that start with the
// function: each content as a file of each type with each identity, and the same as mappings of
// builds. It is what a client with the key of the app can do.
func (h *harness) uploadAll(app, function string) {
	var builds []string
	for n, i := range identities {
		content := i.file(function)
		for _, kind := range []string{cmp.Or(i.kind, "jsbundle"), typeProguard, typeDSYM, typeELF} {
			upload := uuid.NewString()
			if i.kind == typeProguard {
				builds = append(builds, upload)
			}
			if i.id == "" {
				h.upload(app, upload, kind, content)
			} else {
				h.upload(app, upload, kind, content, hexDigits(i.id))
			}
		}
		h.write(app+"/uploads/"+uuid.NewString(), content)
		h.write(app+"/2026-01-0"+string(rune('1'+n%9))+"/"+mappingID, content)
	}
	for _, kind := range []string{"aab", "apk", "ipa"} {
		for _, folder := range []string{"1.0", "mappings", "debug-ids", "files", "..%2Fb", "b"} {
			h.build(app, folder, "42", kind, builds...)
			h.build(app, folder, "mappings", kind, builds...)
			h.build(app, folder, "debug-ids", kind, builds...)
			h.build(app, folder, "ab", kind, builds...)
		}
	}
}

// age makes all files older.
func (h *harness) age() {
	require.NoError(h.t, fs.WalkDir(os.DirFS(h.directory), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name = filepath.Join(h.directory, name)
		info, err := os.Stat(name)
		require.NoError(h.t, err)
		before := info.ModTime().Add(-time.Hour)
		return os.Chtimes(name, before, before)
	}))
}

// names returns the names of all identities that the messages of all tenants get.
func (h *harness) names() map[tenant.Tenant]map[string]string {
	h.t.Helper()
	files := h.processor.(*profilesProcessor).Shared
	files.scan(h.t.Context())
	names := map[tenant.Tenant]map[string]string{}
	for _, t := range allTenants {
		names[t] = map[string]string{}
		for _, i := range identities {
			require.Eventually(h.t, func() bool {
				name, status := i.ask(files.of(t))
				if name == "" {
					name = string(status)
				}
				names[t][i.name] = name
				return status != symbols.Pending
			}, time.Minute, time.Millisecond, "%v %s", t, i.name)
		}
	}
	return names
}

// Whatever a client with the key of app a uploads, messages of other tenants get the same names as
// before: none, or those of the operator's files, or those of their own.
func TestFilesOfAnotherTenant(t *testing.T) {
	h := start(t, "")
	before := h.names()
	h.uploadAll("a", "evil")
	after := h.names()
	assert.Equal(t, "evil", after[appA]["R8 mapping by build of a"])
	assert.Equal(t, "evil", after[appA]["ELF by build ID"])
	assert.Equal(t, "evil", after[appA]["Mach-O by UUID"])
	delete(before, appA)
	delete(after, appA)
	assert.Equal(t, before, after)

	h = start(t, "")
	for _, i := range identities {
		i.put(h, ".", "operator")
	}
	h.uploadAll("b", "own")
	before = h.names()
	for _, i := range identities {
		if i.path != "" {
			for _, tenant := range allTenants {
				assert.Equal(t, "operator", before[tenant][i.name], "%v %s", tenant, i.name)
			}
		}
	}
	assert.Equal(t, "own", before[appB]["R8 mapping by build of b"])
	h.uploadAll("a", "evil")
	after = h.names()
	assert.Equal(t, "evil", after[appA]["R8 mapping by build of a"])
	before[appA]["R8 mapping by build of a"] = "evil"
	assert.Equal(t, before, after)
}

// A second file with an identity changes nothing, wherever it is.
func TestFirstFileStays(t *testing.T) {
	h := start(t, "")
	for _, i := range identities {
		i.put(h, ".", "first")
	}
	h.age()
	first := h.names()
	for _, folder := range []string{"a", "zz", "uploads/bundles/1", "uploads/files/2", "downloads/0123/scripts/3"} {
		for _, i := range identities {
			i.put(h, folder, "second")
		}
		assert.Equal(t, first, h.names(), folder)
	}
	h.write("uploads/releases/"+identities[2].path, "a()")
	h.write("uploads/releases/"+identities[2].path+".map", `{"version":3,"sources":["second.ts"],"names":[],"mappings":"AAAA"}`)
	assert.Equal(t, first, h.names())

	// Those of an app, which has uploaded a build before.
	h = start(t, "")
	upload := uuid.NewString()
	h.upload("a", upload, typeProguard, mappingOf("first"), hexDigits(mappingID))
	h.build("a", "1.0", "42", "apk", upload)
	h.upload("a", uuid.NewString(), typeDSYM, string(machOOf(appleID, "first")), appleID)
	h.upload("a", uuid.NewString(), typeELF, elfOf("first"), gnuID)
	h.age()
	first = h.names()
	for _, name := range []string{"R8 mapping by UUID", "R8 mapping by build of a", "Mach-O by UUID", "ELF by build ID", "ELF by debug ID"} {
		assert.Equal(t, "first", first[appA][name], name)
	}
	for range 3 { // the IDs of uploads are random
		h.uploadAll("a", "second")
		after := h.names()
		for _, name := range []string{"source map by debug ID", "Breakpad by debug ID"} { // had none
			first[appA][name] = after[appA][name]
		}
		assert.Equal(t, first, after)
	}
}
