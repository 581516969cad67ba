// SPDX-License-Identifier: Apache-2.0

package native

import (
	"io"
	"os"
	"syscall"
	"unsafe"
)

// mapFile maps the first bytes of a file into memory. It returns nil if it cannot.
func mapFile(file io.ReaderAt, size int64) (mapped []byte, closed func()) {
	f, ok := file.(*os.File)
	if !ok || size <= 0 || int64(int(size)) != size {
		return nil, func() {}
	}
	// A mapping beyond the end of the file would crash the process when it is read.
	if info, err := f.Stat(); err != nil || info.Size() < size {
		return nil, func() {}
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, func() {}
	}
	return mapped, func() { _ = syscall.Munmap(mapped) }
}

// unmapPages forgets the pages of a part of a mapping.
func unmapPages(part []byte) {
	const page = 64 << 10 // a multiple of all page sizes
	if skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(part)))) & (page - 1); skip < len(part) {
		_ = syscall.Madvise(part[skip:], syscall.MADV_DONTNEED)
	}
}
