// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"encoding/hex"
	"os"
	"path"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/symbolicate"
)

// readObjects returns the objects of a native file: programs, libraries and files of their symbols. The ID of the content wins; without one, the
// path has it:
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

// minPathID is the length of the shortest ID in a path: that of a debug ID, in hex.
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

// debugIDDigits is the length of a debug ID in hex. The age may follow.
const debugIDDigits = 32

func cutAge(id string) string { return id[:min(len(id), debugIDDigits)] }

// addObject adds a native object. Of several with one ID, such as a program and its dSYM, those with lines win.
func (c *catalog) addObject(b *bundle) {
	for _, id := range []string{b.object.ID, b.object.DebugID()} {
		if known := c.objects[id]; known == nil || b.object.Debug && !known.object.Debug {
			c.objects[id] = b
		}
	}
}

// object returns a native object, or nil.
func (c *catalog) object(id symbolicate.NativeID) *bundle {
	if b := c.objects[hexDigits(id.BuildID)]; b != nil {
		return b
	}
	return c.objects[cutAge(hexDigits(id.DebugID))]
}
