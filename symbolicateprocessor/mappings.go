// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/google/uuid"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
)

// isMapping reports whether a file can be a ProGuard mapping:
//
//	mapping.txt, any.txt                   as R8 and sentry-cli write it
//	3f2b7c1e-….txt, 3f2b7c1e-…             the name is the UUID that the build assigned
//	3f/2b7c1e…/proguard                    the same in the unified layout of Sentry's tools
func isMapping(name string) bool {
	return path.Ext(name) == ".txt" || assignedUUID(name) != uuid.Nil
}

// assignedUUID returns the UUID in the path of a ProGuard mapping, or zero.
func assignedUUID(name string) uuid.UUID {
	text := strings.TrimSuffix(path.Base(name), ".txt")
	if text == "proguard" {
		folder := path.Dir(name)
		text = path.Base(path.Dir(folder)) + path.Base(folder)
	}
	id, _ := uuid.Parse(text)
	return id
}

// readMapping returns the bundle of a ProGuard mapping, or nil if the file cannot be read. It reads all of a new file: Sentry's tools compute
// the UUID from the bytes.
func readMapping(root *os.Root, name string, info fs.FileInfo) *bundle {
	file, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := debugid.ProGuard(file)
	if err != nil {
		return nil
	}
	id, _ := uuid.Parse(text)
	return &bundle{source: name, modified: info.ModTime(), size: info.Size(), id: id, assigned: assignedUUID(name)}
}

// mapping returns the ProGuard mapping with a UUID, or nil.
func (c *catalog) mapping(id string) *bundle {
	wanted, err := uuid.Parse(id)
	if err != nil {
		return nil
	}
	return c.mappings[wanted]
}
