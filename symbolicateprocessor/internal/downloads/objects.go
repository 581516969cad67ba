// SPDX-License-Identifier: Apache-2.0

package downloads

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

const (
	// minBuildID and maxBuildID are the lengths of GNU build IDs in hex: linkers write 8 to 32
	// bytes.
	minBuildID = 16
	maxBuildID = 64
)

// Object fetches the debug information of a program with a GNU build ID for a tenant, and reports
// whether it is being fetched.
func (f *Fetcher) Object(t tenant.Tenant, buildID string) bool {
	buildID = strings.ToLower(buildID)
	_, err := hex.DecodeString(buildID)
	return len(f.Servers) > 0 && err == nil && len(buildID) >= minBuildID && len(buildID) <= maxBuildID && f.want(wanted{t, buildID})
}

// fetchObject asks the servers until one has the file; see debuginfod(8), "WEBAPI". If no server
// has it, the error of the first server that failed otherwise is returned.
func (f *Fetcher) fetchObject(ctx context.Context, w wanted) error {
	failed, buildID := errNotFound, w.key
	name := w.folder() + "debuginfo/" + buildID[:2] + "/" + buildID[2:] + "/debuginfo"
	defer f.discard(name)
	for _, server := range f.Servers {
		_, err := f.objects.save(ctx, f.store, strings.TrimSuffix(server, "/")+"/buildid/"+buildID+"/debuginfo", partOf(name), f.MaxNativeBytes)
		if err == nil {
			err = f.check(partOf(name), buildID)
		}
		if err == nil {
			return f.store.Move(partOf(name), name)
		}
		if errors.Is(failed, errNotFound) {
			failed = err
		}
	}
	return failed
}

// check reports whether a file is the one with the build ID. Another file could replace the symbols
// of another program.
func (f *Fetcher) check(name, buildID string) error {
	content, err := f.store.Root.Open(name)
	if err != nil {
		return err
	}
	defer content.Close()
	info, err := content.Stat()
	if err != nil {
		return err
	}
	objects, err := native.Identify(content, info.Size())
	if err != nil {
		return fmt.Errorf("the response is not a symbol file: %w", err)
	}
	if len(objects) != 1 || objects[0].ID != buildID {
		return errors.New("the response has another build ID")
	}
	return nil
}
