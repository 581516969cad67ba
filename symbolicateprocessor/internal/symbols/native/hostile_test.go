// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// newWork returns the work of indexing an object.
func newWork(t testing.TB, o Object) *symbols.Work {
	return symbols.NewWork(t.Context(), o.Size, Limits, nil)
}

// indexBytes indexes every object of a file in memory, and looks up an address.
func indexBytes(t testing.TB, content []byte, address uint64) (err error) {
	objects, err := Identify(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	for _, o := range objects {
		var b bytes.Buffer
		if _, err = Index(newWork(t, o), &b, bytes.NewReader(content), o); err != nil {
			continue
		}
		table, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatalf("%v of an index that was just written", err)
		}
		frames, status := table.Lookup(nil, address, Caller)
		if status == symbols.Error || len(frames) > maxChain || (len(frames) > 0) != (status == symbols.OK) {
			t.Fatalf("%d frames, %s", len(frames), status)
		}
	}
	return err
}

func TestIdentify(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    error
	}{
		"empty": {"", ErrFormat}, "text": {"hello, world", ErrFormat}, "ELF magic": {"\x7fELF\x02\x01\x01\x00", ErrDamaged}, "MODULE": {"MODULE a\n", ErrDamaged},
		"fat without slices": {"\xca\xfe\xba\xbe\x00\x00\x00\x02", ErrDamaged}, "a Java class": {"\xca\xfe\xba\xbe\x00\x00\x00\x41", ErrFormat},
		"Mach-O": {"\xcf\xfa\xed\xfe\x0c\x00\x00\x01", ErrDamaged},
	} {
		_, err := Identify(strings.NewReader(c.content), int64(len(c.content)))
		assert.ErrorIs(t, err, c.want, name)
	}
	objects, err := Identify(strings.NewReader(breakpadText), int64(len(breakpadText)))
	require.NoError(t, err)
	assert.Equal(t, []Object{{Format: Breakpad, Arch: "x86_64", ID: "4fbf22d9b8d24ba2a7f8c1e2d3a4b5c60", Name: "shop", Debug: true, Size: int64(len(breakpadText))}}, objects)
	assert.Equal(t, "4fbf22d9b8d24ba2a7f8c1e2d3a4b5c6", objects[0].DebugID(), "without the age")
	assert.Equal(t, "d4c3b2a1f6e5080790a1b2c3d4e5f607", Object{Format: ELF, ID: "a1b2c3d4e5f6070890a1b2c3d4e5f60711223344"}.DebugID())
	assert.Equal(t, "d4c3b2a1000000000000000000000000", Object{Format: ELF, ID: "a1b2c3d4"}.DebugID())
}

// machO returns a Mach-O file with a UUID, a section of code and symbols.
func machO(names ...string) []byte {
	var strtab, nlist, b bytes.Buffer
	strtab.WriteByte(0)
	for i, name := range names {
		_ = binary.Write(&nlist, binary.LittleEndian, struct {
			Name       uint32
			Type, Sect byte
			Desc       uint16
			Value      uint64
		}{uint32(strtab.Len()), nlistSect, 1, 0, 0x100001000 + 16*uint64(i)})
		strtab.WriteString(name + "\x00")
	}
	put := func(v ...any) {
		for _, v := range v {
			_ = binary.Write(&b, binary.LittleEndian, v)
		}
	}
	fixed := func(n int, s string) []byte { return append([]byte(s), make([]byte, n-len(s))...) }
	const head, loads = 32, 24 + 72 + 80 + 24
	put([]uint32{0xfeedfacf, 0x0100000c, 0, 2, 3, loads, 0, 0})
	put([]uint32{0x1b, 24}, bytes.Repeat([]byte{0xab}, 16))
	put([]uint32{0x19, 72 + 80}, fixed(16, "__TEXT"), []uint64{0x100000000, 0x4000, 0, 0x4000}, []uint32{7, 5, 1, 0})
	put(fixed(16, "__text"), fixed(16, "__TEXT"), []uint64{0x100001000, 0x1000}, []uint32{0x1000, 2, 0, 0, 0x80000400, 0, 0, 0})
	put([]uint32{2, 24, head + loads, uint32(len(names)), uint32(head + loads + nlist.Len()), uint32(strtab.Len())})
	put(nlist.Bytes(), strtab.Bytes())
	return b.Bytes()
}

func TestMachO(t *testing.T) {
	file := machO("_main", "__ZN4Cart5clearEv", "_$s4Shop4CartV5totalSiyF")
	objects, err := Identify(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	assert.Equal(t, []Object{{Format: MachO, Arch: "arm64", ID: strings.Repeat("ab", 16), Size: int64(len(file))}}, objects)
	var b bytes.Buffer
	_, err = Index(newWork(t, objects[0]), &b, bytes.NewReader(file), objects[0])
	require.NoError(t, err)
	table, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	var names []string
	for _, offset := range []uint64{0x1000, 0x1010, 0x101f, 0x1020} {
		address, ok := table.Address(offset)
		require.True(t, ok)
		frames, _ := table.Lookup(nil, address, Leaf)
		names = append(names, frames[0].Function)
	}
	assert.Equal(t, []string{"main", "Cart::clear", "Cart::clear", "Cart.total()"}, names)
	_, ok := table.Address(0x4000)
	assert.False(t, ok)
	for n := range len(file) {
		if err := indexBytes(t, file[:n], 0x100001000); err == nil {
			t.Errorf("cut at %d of %d", n, len(file))
		}
	}
}

// TestDamaged: no damage of a file ends the process, or yields more than the limits.
func TestDamaged(t *testing.T) {
	content, err := os.ReadFile(compile(t, optimized...))
	require.NoError(t, err)
	require.NoError(t, indexBytes(t, content, 0x1200))
	random := rand.New(rand.NewPCG(1, 2))
	reasons := map[string]int{}
	for range 40 {
		damaged := bytes.Clone(content)
		for range 1 + random.IntN(200) {
			damaged[64+random.IntN(len(damaged)-64)] = byte(random.Uint32())
		}
		if err := indexBytes(t, damaged, random.Uint64N(0x4000)); err != nil {
			assert.NotEqual(t, "unreadable", Reason(err), err)
			reasons[Reason(err)]++
		}
	}
	t.Log(reasons)
}

// TestBreakpadLimits: one part is huge or very frequent.
func TestBreakpadLimits(t *testing.T) {
	repeated := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const head = "MODULE Linux x86_64 00 a\nFUNC 1000 100 0 main\n1000 100 1 0\nINLINE_ORIGIN 0 f\n"
	for name, text := range map[string]string{
		"a long line":   head + "FILE 1 " + strings.Repeat("x", 3*maxTextLine) + "\n",
		"a long name":   head + "FUNC 2000 10 0 " + strings.Repeat("x", 2*maxName) + "\n",
		"deep":          head + repeated(2*maxDepth, "INLINE %d 1 0 0 1000 10\n"),
		"beyond memory": head + "FUNC ffffffffffffff00 ffff 0 f\nffffffffffffff00 fff 1 0\n",
		"wide":          head + "FUNC 2000 ffffffffffff 0 f\n",
		"no origin":     head + "INLINE 0 1 9 9 1000 10\n",
		"lines alone":   "MODULE Linux x86_64 00 a\n1000 100 1 0\nINLINE 0 1 0 0 1000 10\nFUNC 1000 10 0 main\n",
	} {
		assert.NoError(t, indexBytes(t, []byte(text), 0x1002), name)
	}
	assert.ErrorIs(t, indexBytes(t, []byte("MODULE Linux x86_64 00 a\nSTACK x\n"), 0), ErrEmpty)
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(breakpadText), uint64(0x1018))
	f.Add(machO("_main", "__ZN4Cart5clearEv"), uint64(0x100001000))
	f.Fuzz(func(t *testing.T, content []byte, address uint64) { _ = indexBytes(t, content, address) })
}

// FuzzOpen: a damaged table yields an error, or frames within the limits.
func FuzzOpen(f *testing.F) {
	var b bytes.Buffer
	objects, _ := Identify(strings.NewReader(breakpadText), int64(len(breakpadText)))
	if _, err := Index(newWork(f, objects[0]), &b, strings.NewReader(breakpadText), objects[0]); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), uint64(0x1018), uint32(0))
	f.Fuzz(func(t *testing.T, content []byte, address uint64, at uint32) {
		table, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		if frames, _ := table.Lookup(nil, address, Leaf); len(frames) > maxChain {
			t.Fatal(len(frames))
		}
		_, _, _ = table.site(at)
		_, _ = table.string(ref(at))
	})
}
