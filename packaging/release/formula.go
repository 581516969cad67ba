// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/template"
)

//go:embed formula.rb.tmpl
var formulaText string

var formulaTemplate = template.Must(template.New("formula").Parse(formulaText))

// brewArchive is the archive of a platform in the Homebrew formula.
type brewArchive struct{ URL, SHA256 string }

// writeFormula writes the Homebrew formula, if all platforms of Homebrew are built.
func (r *release) writeFormula(platforms []target) error {
	archives := map[string]brewArchive{}
	for _, t := range []target{{"darwin", "arm64"}, {"darwin", "amd64"}, {"linux", "arm64"}, {"linux", "amd64"}} {
		if !slices.Contains(platforms, t) {
			return nil
		}
		sum, err := checksum(filepath.Join(r.out, r.archiveName(t)))
		if err != nil {
			return err
		}
		archives[t.os+"_"+t.arch] = brewArchive{
			URL:    fmt.Sprintf("https://%s/releases/download/v%s/%s", ownModule, r.version, r.archiveName(t)),
			SHA256: sum,
		}
	}
	return writeFile(filepath.Join(r.out, "otelcol-sentry.rb"), func(w io.Writer) error {
		return formulaTemplate.Execute(w, map[string]any{"Version": r.version, "Archives": archives})
	})
}
