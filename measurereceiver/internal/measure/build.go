// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Build is the body of PUT /builds and PUT /builds/ota: the size of a build of the app, and the
// mapping files for its addresses and short names.
type Build struct {
	VersionName string    `json:"version_name"` // app_version of events
	VersionCode string    `json:"version_code"` // app_build
	Type        string    `json:"build_type"`   // aab, apk, ipa
	Size        Int       `json:"build_size"`   // bytes
	Mappings    []Mapping `json:"mappings"`

	PatchID      ID     `json:"patch_id"` // over the air only
	PatchVersion string `json:"patch_version"`
}

// Mapping is a file that the build tool will upload.
type Mapping struct {
	Type     FileType `json:"type"`
	Filename string   `json:"filename"`
}

// maxMappings bounds the files of a build: an app with many frameworks has a few dozen dSYMs.
const maxMappings = 512

// DecodeBuild reads a build. The error names the rule that it breaks.
func DecodeBuild(body []byte, overTheAir bool) (*Build, error) {
	if w := weigh(body); w.elements > maxMappings || w.depth > maxDepth {
		return nil, fmt.Errorf("more than %d mappings", maxMappings)
	}
	b := &Build{}
	if err := json.Unmarshal(body, b); err != nil {
		return nil, errors.New("the body must be a JSON object with fields of the published types")
	}
	switch {
	case overTheAir && !b.PatchID.Set():
		return nil, errors.New("patch_id must be a UUID")
	case overTheAir && len(b.PatchVersion) > 256:
		return nil, errors.New("patch_version must have at most 256 bytes")
	case overTheAir && len(b.Mappings) == 0:
		return nil, errors.New("mappings must not be empty")
	case !overTheAir && (b.VersionName == "" || b.VersionCode == ""):
		return nil, errors.New("version_name and version_code must not be empty")
	case !overTheAir && !slices.Contains([]string{"aab", "apk", "ipa"}, b.Type):
		return nil, errors.New("build_type must be aab, apk or ipa")
	case !overTheAir && b.Size.Value <= 0:
		return nil, errors.New("build_size must be a number of bytes greater than 0")
	case len(b.VersionName) > 128 || len(b.VersionCode) > 32: // as in events
		return nil, errors.New("version_name and version_code must have at most 128 and 32 bytes")
	}
	for _, m := range b.Mappings {
		switch {
		case !m.Type.IsMapping() || overTheAir && m.Type != FileJSBundle:
			return nil, errors.New("the type of a mapping is not known")
		case m.Filename == "" || len(m.Filename) > 256 || m.Filename == "." || m.Filename == ".." || strings.ContainsAny(m.Filename, "/\\\x00"):
			return nil, errors.New("the filename of a mapping must be a bare file name")
		}
	}
	return b, nil
}
