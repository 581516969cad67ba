// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/badsymbols"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// indexed indexes the first object of a file, and returns the work, and the bytes that were
// allocated in total: garbage costs time.
func indexed(t testing.TB, file []byte) (work *symbols.Work, allocated uint64, table *Table, err error) {
	t.Helper()
	before := allocatedBytes()
	objects, err := Identify(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, allocatedBytes() - before, nil, err
	}
	var out bytes.Buffer
	work = newWork(t, objects[0])
	_, err = Index(work, &out, bytes.NewReader(file), objects[0])
	allocated = allocatedBytes() - before
	if err == nil {
		table, err = Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
		require.NoError(t, err)
	}
	return work, allocated, table, err
}

// allocatedBytes returns the bytes that the process has allocated so far.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestSmallFiles: the numbers in small files do not decide about memory.
func TestSmallFiles(t *testing.T) {
	for name, file := range map[string][]byte{
		"compressed section names": badsymbols.CompressedNames(64 << 20), "dictionary of 4 GiB": badsymbols.HugeDictionary(40), "dictionary of 3 GiB": badsymbols.HugeDictionary(39),
		"dictionary of 1 GiB": badsymbols.HugeDictionary(36), "unknown dictionary": badsymbols.HugeDictionary(41),
	} {
		_, allocated, _, err := indexed(t, file)
		assert.ErrorIs(t, err, ErrEmpty, name)
		assert.Less(t, allocated, uint64(2<<20), name)
	}
}

// TestGoTableGrows: functions that share names and lists of files.
func TestGoTableGrows(t *testing.T) {
	cost := func(n int) (steps, allocated float64) {
		work, bytes, _, err := indexed(t, badsymbols.GoTable(n))
		require.NoError(t, err)
		return float64(work.Steps()), float64(bytes)
	}
	// Names have at most maxName bytes, so that their sum grows linearly from there.
	steps, allocated := cost(2 * maxName)
	moreSteps, moreAllocated := cost(4 * maxName)
	assert.Less(t, moreSteps, 2.4*steps)
	assert.Less(t, moreAllocated, 2.4*allocated)
}

// TestLookupReadsNames: a lookup does not demangle, however long and many the names are.
func TestLookupReadsNames(t *testing.T) {
	for name, mangled := range map[string]string{"too complex": badsymbols.LongName(1600), "demangled": badsymbols.LongName(20)} {
		_, _, table, err := indexed(t, badsymbols.InlinedNames(maxChain-6, mangled))
		require.NoError(t, err)
		frames, _ := table.Lookup(nil, 0x1008, Leaf)
		require.Len(t, frames, maxChain-5, name)
		assert.Equal(t, name == "demangled", frames[0].Raw != "", name)
		allocations := testing.AllocsPerRun(5, func() { frames, _ = table.Lookup(frames[:0], 0x1008, Leaf) })
		assert.LessOrEqual(t, allocations, float64(8*maxChain), name)
	}
}

// TestDemangling: names that need many steps stay mangled; usual ones do not.
func TestDemangling(t *testing.T) {
	repeat := strings.Repeat
	d := newDemangler(newWork(t, Object{}), 1<<30)
	for name, mangled := range map[string]string{
		"encodings": badsymbols.LongName(300), "casts": "_ZN1A1BI" + repeat("XcvT_I", 40) + "i" + repeat("EE", 40) + "EEv",
		"nested packs": "_ZZ1fIJ" + repeat("i", 200) + "EEvDTcl1gspclT_spclT_spclT_spT_EEEEEE1x", "long": "_Z2000" + repeat("x", 2000) + repeat("v", 200),
	} {
		before := d.steps.Left()
		shown, err := d.demangle(mangled)
		require.NoError(t, err)
		assert.Equal(t, mangled, shown, name)
		assert.LessOrEqual(t, before-d.steps.Left(), maxDemangling, name)
	}
	for mangled, want := range map[string]string{
		"_ZN4Cart5clearEv": "Cart::clear", "_ZNSt6vectorIiSaIiEE9push_backERKi": "std::vector<int, std::allocator<int> >::push_back",
		"_ZNSt4pairIKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiEC4IJOS5_EJLm0EEJEJEEERSt5tupleIJDpT_EERSA_IJDpT1_EESt12_Index_tupleIJXspT0_EEESJ_IJXspT2_EEE": "std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, int>::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >&&, 0ul>",
		"_ZN2cv3Mat6createEiiiNS_5ScalaE": "cv::Mat::create", "_RNvC6_123foo3bar": "123foo::bar", "main": "main", "_": "_", "$": "$",
		"_ZN4core3fmt5write17h0123456789abcdefE": "core::fmt::write", "$s4Shop4CartC3add_2toyAA4ItemV_SitFZ": "static Cart.add(_:to:)",
	} {
		shown, err := d.demangle(mangled)
		require.NoError(t, err)
		assert.Equal(t, want, shown)
	}
	d.steps = allowance.Of(10) // of a file with many names
	shown, err := d.demangle("_ZN4Cart5clearEv")
	require.NoError(t, err)
	assert.Equal(t, "_ZN4Cart5clearEv", shown)
}

// ends is a context that ends after a number of checks.
type ends struct {
	context.Context
	checks int
	ended  bool
}

func (e *ends) Err() error {
	if e.checks--; e.checks < 0 {
		e.ended = true
		return context.Canceled
	}
	return nil
}

// TestStops: indexing ends soon after its context, wherever it is.
func TestStops(t *testing.T) {
	var breakpad strings.Builder
	breakpad.WriteString(breakpadText)
	for i := range 30_000 {
		fmt.Fprintf(&breakpad, "FUNC %x 10 0 _ZN4Cart1f%dEv\n%x 8 1 0\n%x 8 2 0\n", 0x10000+16*i, i, 0x10000+16*i, 0x10008+16*i)
	}
	files := map[string][]byte{"Breakpad": []byte(breakpad.String()), "Go table": badsymbols.GoTable(3 * maxName)}
	program, err := os.ReadFile(goProgram(t, false))
	require.NoError(t, err)
	files["DWARF"] = program
	for name, file := range files {
		objects, err := Identify(bytes.NewReader(file), int64(len(file)))
		require.NoError(t, err)
		for checks := 0; ; checks++ {
			ctx := &ends{Context: t.Context(), checks: checks}
			work := symbols.NewWork(ctx, objects[0].Size, Limits, nil)
			_, err := Index(work, io.Discard, bytes.NewReader(file), objects[0])
			if !ctx.ended {
				require.NoError(t, err)
				assert.Greater(t, checks, 3, name)
				break
			}
			require.ErrorIs(t, err, context.Canceled, "%s after %d checks", name, checks)
			// The context is checked every 65,536 steps, or when a part ends.
			require.Less(t, work.Steps(), int64(checks+3)<<16, name)
			if checks += checks / 8; !testsize.Full() { // each of the first checks, then a sample
				checks *= 2
			}
		}
	}
}
