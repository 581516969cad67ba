// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/stretchr/testify/require"
)

// diskFull: the disk fills up while the backend is down, and has free space again some time after
// the backend is back.
func diskFull(r *rig) { r.fullDisk(func() {}) }

// restartOnFullDisk: like diskFull, but the collector is replaced while the disk is full.
func restartOnFullDisk(r *rig) {
	r.fullDisk(func() {
		if r.random.IntN(2) == 0 {
			r.Stop()
		} else {
			r.Crash()
		}
		r.start()
	})
}

func (r *rig) fullDisk(meanwhile func()) {
	r.smallDisk()
	r.diskWasFull = true
	r.start()
	stop := r.send()
	r.awaitAnswers(r.some(50))
	r.backend.be(down)
	ballast := r.fillDisk(int64(r.random.IntN(1 << 20)))
	r.awaitAnswers(r.some(600))
	meanwhile()
	r.awaitAnswers(r.some(100))
	r.backend.be(well)
	r.awaitAnswers(r.some(200))
	require.NoError(r.t, os.Remove(ballast))
	r.awaitAnswers(100 + r.some(50)) // of each signal: the queue counts a request that it could not store only when it stores another one
	stop()
}

// smallDisk moves the storage to its own file system in memory. This requires the permission to
// mount one.
func (r *rig) smallDisk() {
	r.t.Helper()
	err := syscall.Mount("tmpfs", r.directory, "tmpfs", 0, "size=8m")
	if errors.Is(err, os.ErrPermission) {
		r.t.Skip("a disk that is full: only root may mount a small file system")
	}
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, syscall.Unmount(r.directory, 0)) })
}

// fillDisk fills the disk except for this number of bytes.
func (r *rig) fillDisk(left int64) (ballast string) {
	ballast = filepath.Join(r.directory, "ballast")
	file, err := os.Create(ballast)
	require.NoError(r.t, err)
	defer file.Close()
	size, block := int64(0), make([]byte, 4096)
	for err == nil {
		var n int
		n, err = file.Write(block)
		size += int64(n)
	}
	require.ErrorIs(r.t, err, syscall.ENOSPC)
	require.NoError(r.t, file.Truncate(max(0, size-left)))
	return ballast
}
