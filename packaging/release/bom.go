// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeBOM writes the bill of materials, without a serial number or time: equal sources yield equal bytes.
func (r *release) writeBOM(modules []*module) error {
	own := component(&module{path: ownModule, version: "v" + r.version, licenses: []string{"Apache-2.0"}})
	own.Type, own.Scope = cyclonedx.ComponentTypeApplication, ""
	components := make([]cyclonedx.Component, 0, len(modules))
	for _, m := range modules {
		components = append(components, component(m))
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &own}
	bom.Components = &components
	path := filepath.Join(r.out, fmt.Sprintf("otelcol-sentry_%s.cdx.json", r.version))
	return writeFile(path, func(w io.Writer) error {
		return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}

func component(m *module) cyclonedx.Component {
	var all cyclonedx.Licenses
	for _, name := range m.licenses {
		all = append(all, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: name}})
	}
	purl := fmt.Sprintf("pkg:golang/%s@%s", m.path, m.version) // https://github.com/package-url/purl-spec
	return cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: m.path, Version: m.version, Scope: cyclonedx.ScopeRequired,
		Licenses: &all, PackageURL: purl,
	}
}
