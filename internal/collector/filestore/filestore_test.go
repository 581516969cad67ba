// SPDX-License-Identifier: Apache-2.0

package filestore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSweep: a store keeps to its size, the oldest go, and so do directories with nothing in them.
func TestSweep(t *testing.T) {
	folder := t.TempDir()
	s, err := Open(folder, 10*BlockSize)
	require.NoError(t, err)
	defer s.Close()
	for i := range 100 {
		_, err := s.Save(fmt.Sprintf("app/version %d/file", i), bytes.NewReader(make([]byte, 1+1000*(i%5))), 5000)
		require.NoError(t, err)
	}
	var total int64
	for _, file := range s.List() {
		total += SizeOnDisk(file.Size)
	}
	assert.LessOrEqual(t, total, int64(10*BlockSize))
	assert.Equal(t, s.Total(), total)
	directories, err := os.ReadDir(filepath.Join(folder, "app"))
	require.NoError(t, err)
	assert.Len(t, directories, len(s.List()))
	_, err = s.Save("../outside", strings.NewReader("x"), 10)
	assert.Error(t, err)
}

// TestSweepIsFair: an app that fills the store loses its own files, not the older ones of another.
func TestSweepIsFair(t *testing.T) {
	s, err := Open(t.TempDir(), 20*BlockSize)
	require.NoError(t, err)
	defer s.Close()
	save := func(name string) {
		_, err := s.Save(name, strings.NewReader("x"), 1)
		require.NoError(t, err)
	}
	for i := range 5 {
		save(fmt.Sprintf("small/a/%d", i))
	}
	for i := range 50 {
		save(fmt.Sprintf("large/b/%d", i))
	}
	kept := map[string]int{}
	for _, file := range s.List() {
		app, _, _ := strings.Cut(file.Name, "/")
		kept[app]++
	}
	assert.Equal(t, 5, kept["small"])
	assert.Greater(t, kept["large"], 10)
}

// TestFewFiles: a store with a limit of files removes the oldest at the limit, however small they
// are, and also after a restart.
func TestFewFiles(t *testing.T) {
	const files, most = 10, 100 * BlockSize
	folder := t.TempDir()
	for range 2 {
		s, err := OpenLimited(folder, most, files)
		require.NoError(t, err)
		assert.EqualValues(t, len(s.List())*most/files, s.Total())
		for i := range 25 {
			_, err := s.Save(fmt.Sprintf("app/%02d", i), strings.NewReader("x"), 1)
			require.NoError(t, err)
			assert.LessOrEqual(t, len(s.List()), files)
			assert.EqualValues(t, len(s.List())*most/files, s.Total())
		}
		var names []string
		for _, file := range s.List() {
			names = append(names, file.Name)
		}
		assert.Contains(t, names, "app/24")
		assert.NotContains(t, names, "app/00")
		assert.GreaterOrEqual(t, len(names), files*sweptPercent/100)
		require.NoError(t, s.Close())
	}
}

// TestUnfinishedFiles: what a process that was killed has left is removed, and not counted.
func TestUnfinishedFiles(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "app"), 0o700))
	for _, name := range []string{PartPrefix + "1", "whole"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "app", name), []byte("12345"), 0o600))
	}
	s, err := Open(folder, 100)
	require.NoError(t, err)
	defer s.Close()
	assert.EqualValues(t, BlockSize, s.Total())
	assert.Len(t, s.List(), 1)
}

// TestIncompleteFiles: incomplete files count in the size of the store, replace other files, and
// leave nothing if they fail.
func TestIncompleteFiles(t *testing.T) {
	s, err := Open(t.TempDir(), 100*BlockSize)
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Save("old/file", bytes.NewReader(make([]byte, 60*BlockSize)), 1<<20)
	require.NoError(t, err)
	read, write := io.Pipe()
	done := make(chan error)
	go func() {
		_, err := s.Save("new/a/b/file", read, 1<<30)
		done <- err
	}()
	for range 90 {
		_, err := write.Write(make([]byte, BlockSize))
		require.NoError(t, err)
		assert.LessOrEqual(t, s.Total(), int64(100*BlockSize))
	}
	_, err = s.Root.Stat("old/file")
	assert.Error(t, err, "replaced")
	_, err = s.Save("other/file", bytes.NewReader(make([]byte, 20*BlockSize)), 1<<20)
	assert.ErrorIs(t, err, ErrFull)
	_, err = s.Save("other/file", strings.NewReader("x"), 1<<20)
	assert.NoError(t, err)

	require.NoError(t, write.CloseWithError(errors.New("disconnected")))
	assert.ErrorAs(t, <-done, new(*ReadError))
	assert.EqualValues(t, BlockSize, s.Total())
	folders, err := os.ReadDir(s.Directory)
	require.NoError(t, err)
	assert.Len(t, folders, 1, "the folder of other/file")
	require.NoError(t, s.Remove("other/file"))
	assert.Zero(t, s.Total())
}
