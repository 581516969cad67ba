// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"cmp"
	"io"
	"path"
	"strings"

	"github.com/google/uuid"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
)

// isMapping reports whether a file can be a ProGuard mapping:
//
//	mapping.txt, any.txt                   as written by R8 and sentry-cli
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

// readMapping returns the bundle of a ProGuard mapping. It reads the whole file, because Sentry's
// tools compute the UUID from the content.
func (s *scanner) readMapping(f *file, content io.Reader) []*bundle {
	if !s.fits(f, "max_file_bytes", s.cfg.MaxFileBytes) {
		return nil
	}
	text, err := debugid.ProGuard(content)
	if err != nil {
		return nil
	}
	id, _ := uuid.Parse(text)
	return []*bundle{{kind: mapping, id: id, assigned: assignedUUID(f.path)}}
}

// mapping returns the ProGuard mapping with a UUID or of a build for a tenant, or nil.
func (c *catalog) mapping(t tenant.Tenant, id string) *bundle {
	wanted, err := uuid.Parse(id)
	if err != nil {
		return c.own(t).builds[id]
	}
	return cmp.Or(c.mappings[wanted], c.own(t).mappings[wanted])
}
