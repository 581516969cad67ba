// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// checksumsFile has the format of sha256sum.
const checksumsFile = "checksums.txt"

// writeChecksums writes the SHA-256 of every file of the release. The image has its index, which
// contains the digests of its parts.
func (r *release) writeChecksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines []byte
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == "image":
			name = "image/index.json"
		case e.IsDir() || name == checksumsFile:
			continue
		}
		sum, err := checksum(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		lines = fmt.Appendf(lines, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(r.out, checksumsFile), lines, 0o644)
}

func checksum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
