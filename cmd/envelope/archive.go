// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// The magic number of a tar archive, in its first header.
const (
	tarMagic       = "ustar"
	tarMagicOffset = 257
)

func isArchive(data []byte) bool {
	return len(data) > tarMagicOffset && bytes.HasPrefix(data[tarMagicOffset:], []byte(tarMagic))
}

// members returns the files of an archive as inputs, or the input itself if it is not one.
func (in input) members() (all []input, err error) {
	if !isArchive(in.data) {
		return []input{in}, nil
	}
	left := int64(maxInput) // a sparse file has any number of zeros
	for archive := tar.NewReader(bytes.NewReader(in.data)); ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case header.Typeflag != tar.TypeReg:
			continue
		}
		data, err := io.ReadAll(io.LimitReader(archive, left+1))
		if err != nil {
			return nil, err
		}
		if left -= int64(len(data)); left < 0 {
			return nil, fmt.Errorf("%s: the files of the archive have more than %d MiB", header.Name, maxInput>>20)
		}
		all = append(all, input{name: in.name + ":" + header.Name, data: data})
	}
}
