// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package native

import "io"

// mapFile maps nothing: the parts of the file are read into memory.
func mapFile(io.ReaderAt, int64) (mapped []byte, closed func()) { return nil, func() {} }

func unmapPages([]byte) {}
