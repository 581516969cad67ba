// SPDX-License-Identifier: Apache-2.0

package downloads

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

// Script fetches a script and its source map for a tenant, and reports whether they are being
// fetched.
func (f *Fetcher) Script(t tenant.Tenant, location string) bool {
	u := scriptURL(location)
	return u != nil && f.scripts.hosts.allow(u) && f.want(wanted{t, u.String()})
}

// ScriptPath returns the path of a script in the folder of a tenant, or an empty path if the
// location is not the URL of a script.
func ScriptPath(location string) string {
	if u := scriptURL(location); u != nil {
		return path.Join(folderOf(u.String()), scriptName)
	}
	return ""
}

// All scripts have the same name. The source map is next to the script, as in builds.
const (
	scriptName = "script.js"
	mapSuffix  = ".map"
)

// folderOf returns the folder of a script: URLs can be longer than file names, and contain any
// character.
func folderOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return "scripts/" + hex.EncodeToString(sum[:16])
}

// scriptURL parses the URL of a script, or returns nil. It removes the query, because senders of
// profiles could otherwise fill the store with copies of one file.
func scriptURL(location string) *url.URL {
	if !strings.HasPrefix(location, "http") || len(location) > maxURL {
		return nil
	}
	u, err := url.Parse(location)
	if err != nil || !isScript(u.Path) {
		return nil
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	return u
}

func isScript(name string) bool {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs":
		return true
	}
	return false
}

// fetchScript fetches a script and its source map. An older version stays until both are complete.
// The map is moved first, because the processor opens a script whenever it changes.
func (f *Fetcher) fetchScript(ctx context.Context, w wanted) error {
	location := w.key
	script := path.Join(w.folder(), folderOf(location), scriptName)
	sourceMap := script + mapSuffix
	defer f.discard(script, sourceMap)
	response, err := f.scripts.save(ctx, f.store, location, partOf(script), f.MaxFileBytes)
	if err != nil {
		return err
	}
	link, err := f.mapOf(partOf(script), response)
	if err != nil {
		return err
	}
	if _, err := f.scripts.save(ctx, f.store, link, partOf(sourceMap), f.MaxFileBytes); err != nil {
		return fmt.Errorf("source map %s: %w", link, err)
	}
	return errors.Join(f.store.Move(partOf(sourceMap), sourceMap), f.store.Move(partOf(script), script))
}

// mapOf returns the URL of the source map of a script: that of the header, else that of the comment
// at the end (ECMA-426, "Linking generated code to source maps"), else the URL of the script with
// the suffix .map.
func (f *Fetcher) mapOf(script string, response *http.Response) (string, error) {
	content, err := f.store.Root.Open(script)
	if err != nil {
		return "", err
	}
	defer content.Close()
	info, err := content.Stat()
	if err != nil {
		return "", err
	}
	base := response.Request.URL // after redirects
	link := cmp.Or(response.Header.Get("SourceMap"), response.Header.Get("X-SourceMap"), sourcemap.ReadLinksAt(content, info.Size()).Map, path.Base(base.Path)+mapSuffix)
	if strings.HasPrefix(link, "data:") {
		return "", errors.New("source maps inside the script are not supported")
	}
	u, err := base.Parse(link)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}
