// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOldCompression: a program with .zdebug sections has the functions of the same program with
// .debug sections.
func TestOldCompression(t *testing.T) {
	if _, err := exec.LookPath("objcopy"); err != nil {
		t.Skip("needs objcopy")
	}
	plain, packed := compile(t, optimized...), filepath.Join(t.TempDir(), "packed")
	output, err := exec.Command("objcopy", "--compress-debug-sections=zlib-gnu", plain, packed).CombinedOutput()
	require.NoError(t, err, string(output))
	content, err := os.ReadFile(packed)
	require.NoError(t, err)
	require.Contains(t, string(content), "\x00.zdebug_info\x00")
	assert.True(t, identified(t, content).Debug)

	want, _ := indexFile(t, plain)
	got, summary := indexFile(t, packed)
	require.NoError(t, summary.Incomplete)
	assert.Positive(t, summary.Units)
	for _, code := range codeOf(t, plain) {
		for at := code.from; at < code.to; at += 3 {
			a, _ := want.Lookup(nil, at, Leaf)
			b, _ := got.Lookup(nil, at, Leaf)
			require.Equal(t, written(a), written(b), "%#x", at)
		}
	}
}

func identified(t *testing.T, content []byte) Object {
	t.Helper()
	objects, err := Identify(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	return objects[0]
}

// TestSectionsWithoutContent: identification does not count sections that reading ignores: headers
// of sections that were moved to another file (SHT_NOBITS), or are empty.
func TestSectionsWithoutContent(t *testing.T) {
	path := compile(t, optimized...)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, identified(t, content).Debug)
	at := headerOf(t, content, sectionInfo)
	for name, change := range map[string]func(header []byte){
		"no bits": func(header []byte) { binary.LittleEndian.PutUint32(header[4:], uint32(elf.SHT_NOBITS)) },
		"empty":   func(header []byte) { binary.LittleEndian.PutUint64(header[32:], 0) },
	} {
		broken := bytes.Clone(content)
		change(broken[at:])
		assert.False(t, identified(t, broken).Debug, name)
		changed := filepath.Join(t.TempDir(), "changed")
		require.NoError(t, os.WriteFile(changed, broken, 0o600))
		_, summary := indexFile(t, changed)
		assert.Zero(t, summary.Units, name)
	}
}

// headerOf returns the position of the header of a section.
func headerOf(t *testing.T, content []byte, name string) uint64 {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(content))
	require.NoError(t, err)
	for i, s := range file.Sections {
		if s.Name == name {
			return binary.LittleEndian.Uint64(content[40:]) + 64*uint64(i)
		}
	}
	t.Fatalf("no %s", name)
	return 0
}
