// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"embed"
	"io/fs"
	"net/http"
	"unicode/utf8"
)

// assets is the page. It is built from web/ (make page) and committed, so that building the collector needs no Node; a test
// holds it against the stamp of what it was built from.
//
//go:embed all:assets
var assets embed.FS

// page serves the files of the page.
func page() http.Handler {
	root, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the name is a constant
	}
	files := http.FileServerFS(root)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !utf8.ValidString(r.URL.Path) { // no name of a file, for which FileServerFS would blame itself: 500
			http.NotFound(w, r)
			return
		}
		files.ServeHTTP(w, r)
	})
}
