// SPDX-License-Identifier: Apache-2.0

package pprof

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

// TestOneLongTextOfMany: a text is hashed once, however many entries refer to it by its index.
func TestOneLongTextOfMany(t *testing.T) {
	const long, short = 1 << 20, 3
	number := func(field int, n uint64) []byte { return appendNumber(nil, field, n) }
	join := func(parts ...[]byte) (all []byte) {
		for _, part := range parts {
			all = append(all, part...)
		}
		return all
	}
	for name, entry := range map[string]func(id uint64) []byte{
		"functions": func(id uint64) []byte {
			return join(appendBytes(nil, profileFunction, join(number(entryID, id), number(functionName, short), number(functionSystemName, short), number(functionFilename, short), number(functionStartLine, id))),
				appendBytes(nil, profileLocation, join(number(entryID, id), appendBytes(nil, locationLine, number(lineFunction, id)))))
		},
		"mappings": func(id uint64) []byte {
			return join(appendBytes(nil, profileMapping, join(number(entryID, id), number(mappingStart, id<<12), number(mappingLimit, (id+1)<<12), number(mappingFilename, short), number(mappingBuildID, short))),
				appendBytes(nil, profileLocation, join(number(entryID, id), number(locationMapping, id), number(locationAddress, id<<12))))
		},
	} {
		for _, count := range []uint64{500, 1000} {
			data := appendBytes(nil, profileSampleType, join(number(valueTypeType, 1), number(valueTypeUnit, 2)))
			for _, text := range []string{"", "samples", "count", strings.Repeat("x", long)} {
				data = appendBytes(data, profileString, []byte(text))
			}
			for id := uint64(1); id <= count; id++ {
				data = append(data, entry(id)...)
				data = appendBytes(data, profileSample, join(appendBytes(nil, sampleLocationIDs, appendVarint(nil, id)), appendBytes(nil, sampleValues, appendVarint(nil, 1)),
					appendBytes(nil, sampleLabel, join(number(labelKey, 1), number(labelText, short)))))
			}
			r, err := read(data, importer.Options{})
			require.NoError(t, err)
			assert.Less(t, r.TextBytes(), int64(4*len(data)), "%s, %d", name, count) // once as a string and as a value of each key
			message, _, err := r.Finish()
			require.NoError(t, err)
			assert.Equal(t, int(count)+1, message.Dictionary().LocationTable().Len())
		}
	}
}

// TestLongKeys: google/pprof hashes the key of each label.
func TestLongKeys(t *testing.T) {
	data := appendBytes(nil, profileSampleType, nil)
	data = append(data, appendBytes(nil, profileString, nil)...)
	data = appendBytes(data, profileString, []byte(strings.Repeat("k", 1<<20)))
	label := appendBytes(nil, sampleLabel, append(appendNumber(nil, labelKey, 1), appendNumber(nil, labelText, 1)...))
	for range 300 {
		data = appendBytes(data, profileSample, label)
	}
	_, err := parse(data)
	assert.ErrorContains(t, err, "300 MiB")
}

// TestDamagedMessages: google/pprof accepts fields with the number 0. Nothing is counted after
// them, so such a file is rejected.
func TestDamagedMessages(t *testing.T) {
	labels := append([]byte{0, 0}, bytes.Repeat(appendBytes(nil, sampleLabel, nil), 1<<20)...)
	for name, data := range map[string][]byte{
		"file":   append([]byte{0, 0}, appendBytes(nil, profileString, nil)...),
		"sample": append(appendBytes(nil, profileString, nil), appendBytes(nil, profileSample, labels)...),
		"label":  append(appendBytes(nil, profileString, nil), appendBytes(nil, profileSample, appendBytes(nil, sampleLabel, []byte{0, 0}))...),
	} {
		_, err := parse(data)
		assert.ErrorContains(t, err, "damaged", name)
	}
}

// TestPruning: the steps of matching names grow with the file, however large the pattern is.
func TestPruning(t *testing.T) {
	for name, c := range map[string]struct {
		pattern  string
		tooLarge bool
	}{
		"alternation": {"(" + strings.Repeat("tcmalloc::Allocate|operator new|", 40) + "malloc)", false},
		"anything":    {".*::Allocate|.*::New|.*malloc.*", false},
		"hostile":     {strings.Repeat(".*", 2000) + "x", true},
	} {
		var steps []int
		for _, count := range []int{1000, 2000} {
			in := &profile.Profile{DropFrames: c.pattern}
			size := 0
			for i := range count {
				f := &profile.Function{Name: fmt.Sprintf("shop::Cart::add<item %d>::operator()(int)", i)}
				size += len(f.Name)
				in.Function = append(in.Function, f)
			}
			r := reader{Builder: importer.NewBuilder(importer.Options{}), in: in}
			steps = append(steps, r.prune(size))
			_, losses, _ := r.Finish()
			assert.Equal(t, c.tooLarge, len(losses) > 0, name)
			assert.LessOrEqual(t, steps[len(steps)-1], minPruning+pruningPerByte*size+maxPattern, name)
			assert.Equal(t, "shop::Cart::add<item 0>::operator()(int)", in.Function[0].Name)
		}
		t.Logf("%s: %d, %d steps", name, steps[0], steps[1])
		if !c.tooLarge {
			assert.InEpsilon(t, 2*steps[0], steps[1], 0.05, name)
		}
	}
}

// TestLargePatterns: a pattern that is too large is not compiled: that would take hundreds of times
// its allowed size.
func TestLargePatterns(t *testing.T) {
	for _, part := range []string{`a{1000}`, `(a?){1000}`, `(?:(?:a{10}){10}){10}`, `[a-c]{1000}`, `a{1000,}`} {
		pattern, left := strings.Repeat(part, maxPattern/len(part)), 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := newMatcher(pattern, &left)
		runtime.ReadMemStats(&after)
		require.Error(t, err, part)
		assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(10), "MiB, %s", part)
	}
}
