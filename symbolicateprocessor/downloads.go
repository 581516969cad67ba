// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/downloads"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
)

// downloadsFolder is the folder of downloaded files in the directory of symbol files.
const downloadsFolder = "downloads"

// refreshAfter is the age from which a script is downloaded again if it was found by its URL: a new
// build may have replaced it.
const refreshAfter = time.Hour

// remote downloads missing symbol files. It is nil if there is no server.
type remote struct {
	fetcher *downloads.Fetcher
	store   *filestore.Store
}

// startRemote starts downloads. changed searches the directory after each download, and ended is
// called when a file is no longer being downloaded.
func startRemote(cfg *Config, t *telemetry, logger *zap.Logger, changed func(context.Context), ended func()) (*remote, error) {
	d := &cfg.Downloads
	store, err := filestore.OpenLimited(filepath.Join(cfg.Store.Directory, downloadsFolder), d.MaxTotalSize, cfg.Store.MaxFiles/4)
	if err != nil {
		return nil, fmt.Errorf("downloads: cannot open the folder in store::directory: %w", err)
	}
	return &remote{store: store, fetcher: downloads.NewFetcher(store, downloads.Options{
		Hosts: d.SourceMapHosts, Servers: d.DebuginfodURLs, HTTP: d.AllowHTTP,
		Timeout: d.Timeout, Concurrent: d.MaxConcurrent, RetryAfter: d.RetryAfter,
		MaxFileBytes: min(d.MaxFileBytes, cfg.Store.MaxFileBytes), MaxNativeBytes: min(d.MaxFileBytes, cfg.Store.MaxNativeBytes),
		Stored: changed, Ended: ended,
		Count: func(outcome downloads.Outcome, file string, err error) {
			t.countDownload(context.Background(), outcome)
			if err != nil && outcome != downloads.NotFound {
				logger.Warn("Cannot download a symbol file", zap.String("file", file), zap.Error(err))
			}
		},
	})}, nil
}

func (r *remote) stop() error {
	r.fetcher.Close()
	return r.store.Close()
}

// script downloads a script that is missing or old, and reports whether a download is under way.
func (r *remote) script(t tenant.Tenant, id symbolicate.ScriptID, b *bundle) bool {
	if r == nil || b != nil && (id.DebugID != "" || !b.old(time.Now())) {
		return false
	}
	return r.fetcher.Script(t, id.URL)
}

// object downloads a missing native file, and reports whether a download is under way.
func (r *remote) object(t tenant.Tenant, id symbolicate.NativeID, b *bundle) bool {
	return r != nil && b == nil && r.fetcher.Object(t, id.BuildID)
}

// old reports whether the file was downloaded long ago.
func (b *bundle) old(now time.Time) bool {
	return strings.HasPrefix(b.file.path, downloadsFolder+"/") && now.Sub(b.file.modified) > refreshAfter
}

// downloaded returns the script that was downloaded from a URL, or nil.
func (c *catalog) downloaded(url string) *bundle { return c.downloads[downloads.ScriptPath(url)] }

// addDownload adds a script by its URL. Of those that several tenants needed, the newest is used: a
// new build may have replaced the others.
func (c *catalog) addDownload(b *bundle) {
	if name := path.Join("scripts", folder(b.file.path, 1), path.Base(b.file.path)); strings.HasPrefix(b.file.path, downloadsFolder+"/") && folder(b.file.path, 2) == "scripts" {
		if known := c.downloads[name]; known == nil || known.file.modified.Before(b.file.modified) {
			c.downloads[name] = b
		}
	}
}
