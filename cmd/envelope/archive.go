// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
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
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		all = append(all, input{in.name + ":" + header.Name, data})
	}
}
