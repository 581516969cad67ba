// SPDX-License-Identifier: Apache-2.0

package symbols

import (
	"syscall"
	"unsafe"
)

// Reserve returns an empty list with a capacity, in memory that the garbage collector does not
// manage: growing does not copy it, pages that are never written need no memory, and the heap does
// not grow to twice its size. T must not contain pointers. The list must not be used after release.
// If the system refuses the memory, the capacity is 0.
func Reserve[T any](capacity int64) (list []T, release func()) {
	size := capacity * int64(unsafe.Sizeof(*new(T)))
	memory, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, func() {}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), capacity)[:0], func() { _ = syscall.Munmap(memory) }
}
