// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"embed"
	"io/fs"
	"net/http"
	"unicode/utf8"
)

// assets is the page. It is built from web/ (make page) and committed, so that building the
// collector does not require Node. A test compares its stamp with web/.
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
		if !utf8.ValidString(r.URL.Path) { // FileServerFS would answer 500
			http.NotFound(w, r)
			return
		}
		files.ServeHTTP(w, r)
	})
}
