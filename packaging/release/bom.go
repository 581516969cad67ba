// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeBOM writes the bill of materials, without a serial number or time: equal sources yield equal
// bytes.
func (r *release) writeBOM(modules []*module) error {
	own := component(&module{path: ownModule, version: "v" + r.version, licenses: []string{"Apache-2.0"}})
	own.Type, own.Scope = cyclonedx.ComponentTypeApplication, ""
	components, err := pageComponents()
	if err != nil {
		return err
	}
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
	return library("golang", m.path, m.version, m.licenses...)
}

// library returns a component. kind is a type of https://github.com/package-url/purl-spec.
func library(kind, name, version string, licenses ...string) cyclonedx.Component {
	var all cyclonedx.Licenses
	for _, license := range licenses {
		all = append(all, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: license}})
	}
	purl := fmt.Sprintf("pkg:%s/%s@%s", kind, name, version)
	return cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: name, Version: version, Scope: cyclonedx.ScopeRequired,
		Licenses: &all, PackageURL: purl,
	}
}

// pagePackage is the first line of the license of an npm package, as web/build.mjs writes it.
var pagePackage = regexp.MustCompile(`(?m)^(\S+) (\d\S*) \(([\w.-]+)\)$`)

// pageComponents returns the npm packages in the viewer's page, which is part of the collector.
func pageComponents() (all []cyclonedx.Component, err error) {
	text, err := os.ReadFile(filepath.Join(top, "profileviewerexporter", "assets", "licenses.txt"))
	for _, p := range pagePackage.FindAllSubmatch(text, -1) {
		all = append(all, library("npm", string(p[1]), string(p[2]), string(p[3])))
	}
	return all, err
}
