// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"cmp"
	"encoding/hex"
	"os"
	"path"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// readObjects returns the objects of a native file: programs, libraries and separate symbol files.
// If the content has no ID, the ID is taken from the path:
//
//	ab/cdef…/debuginfo, ab/cdef…/executable    Sentry's unified layout
//	.build-id/ab/cdef….debug                   Debian, Fedora
//	abcdef…, abcdef….debug                     flat
func (s *scanner) readObjects(f *file, content *os.File) (bundles []*bundle) {
	objects, err := native.Identify(content, f.size)
	if err != nil || !s.fits(f, "max_native_bytes", s.cfg.MaxNativeBytes) {
		return nil
	}
	for _, o := range objects {
		if o.ID == "" {
			o.ID = idOfPath(f.path)
		}
		if o.ID != "" {
			bundles = append(bundles, &bundle{kind: object, object: o})
		}
	}
	return bundles
}

// minPathID is the minimum length of an ID in a path: that of a debug ID, in hex.
const minPathID = 32

func idOfPath(name string) string {
	base := path.Base(name)
	if base == "debuginfo" || base == "executable" {
		base = path.Base(path.Dir(name))
		name = path.Dir(name)
	}
	base = strings.TrimSuffix(base, ".debug")
	for _, id := range []string{path.Base(path.Dir(name)) + base, base} {
		id = hexDigits(id)
		if _, err := hex.DecodeString(id); err == nil && len(id) >= minPathID {
			return id
		}
	}
	return ""
}

// hexDigits returns an ID without dashes, in lower case.
func hexDigits(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }

// debugIDDigits is the length of a debug ID in hex, without the age.
const debugIDDigits = 32

func cutAge(id string) string { return id[:min(len(id), debugIDDigits)] }

// addObject adds a native object. If several objects share an ID, such as a program and its dSYM,
// one with debug information takes precedence.
func (s *scope) addObject(b *bundle) {
	for _, id := range []string{b.object.ID, b.object.DebugID()} {
		if known := s.objects[id]; known != nil && known.object.Debug != b.object.Debug {
			if b.object.Debug {
				s.objects[id] = b
			}
			continue
		}
		addFirst(s.objects, id, b)
	}
}

// object returns a native object for a tenant, or nil.
func (c *catalog) object(t tenant.Tenant, id symbolicate.NativeID) *bundle {
	return cmp.Or(c.scope.object(id), c.own(t).object(id))
}

func (s *scope) object(id symbolicate.NativeID) *bundle {
	return cmp.Or(s.objects[hexDigits(id.BuildID)], s.objects[cutAge(hexDigits(id.DebugID))])
}
