// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"math"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// openFiles holds the files in memory, within a limit. Several tenants may use a file: it counts in
// the share of each, and stays open until each has lost it. At the limit, the least recently used
// files are closed, in this order:
//
//   - files that no tenant has used for idleAfter;
//   - files of the tenant that uses the most memory.
//
// A tenant that uses less than an equal share therefore keeps its files, and one that would exceed
// its share at the expense of others cannot open more.
type openFiles struct {
	limit    int64
	changed  func(bytes int64) // of memory, for metrics
	byBundle map[*bundle]*openFile
	uses     fairshare.Queue[tenant.Tenant, use] // the least recent first
	bytes    int64                               // of all files
}

// openFile is a file in memory, with the uses that keep it open.
type openFile struct {
	bundle *bundle
	file   symbolFile
	bytes  int64
	uses   map[tenant.Tenant]*fairshare.Entry[tenant.Tenant, use]
}

// use is the last use of a file by a tenant.
type use struct {
	file *openFile
	at   time.Time
}

const (
	// idleAfter is the time after which a file may be closed for any tenant. SDKs send profiles
	// every minute.
	idleAfter = 10 * time.Minute

	// maxUses limits the memory for uses to about 10 MB, because tenants without a list of projects
	// cost nothing.
	maxUses = 1 << 16
)

func newOpenFiles(limit int64, changed func(int64)) *openFiles {
	return &openFiles{limit: limit, changed: changed, byBundle: map[*bundle]*openFile{}}
}

// get returns an open file for a tenant, or nil.
func (o *openFiles) get(t tenant.Tenant, b *bundle, now time.Time) symbolFile {
	file := o.byBundle[b]
	if file == nil {
		return nil
	}
	o.use(t, file, now)
	return file.file
}

// use makes a tenant's use of a file the most recent one.
func (o *openFiles) use(t tenant.Tenant, file *openFile, now time.Time) {
	if before := file.uses[t]; before != nil {
		o.uses.Remove(before)
	}
	file.uses[t] = o.uses.Push(t, use{file, now}, file.bytes)
	for o.uses.Len() > maxUses {
		o.drop(o.uses.LargestOldest())
	}
}

// makeRoom closes files until a tenant can open another one, and reports whether it can.
func (o *openFiles) makeRoom(t tenant.Tenant, bytes int64, now time.Time) bool {
	for o.bytes+bytes > o.limit {
		victim := o.uses.Oldest()
		if victim == nil {
			return false
		}
		if now.Sub(victim.Value.at) < idleAfter {
			victim = o.uses.LargestOldest()
			if victim.Tenant() != t && o.uses.Use(victim.Tenant()) <= o.uses.Use(t)+bytes {
				if victim = o.uses.OldestOf(t); victim == nil {
					return false
				}
			}
		}
		o.drop(victim)
	}
	return true
}

// add adds a file that a tenant has opened, after makeRoom.
func (o *openFiles) add(t tenant.Tenant, b *bundle, file symbolFile, now time.Time) {
	opened := &openFile{bundle: b, file: file, bytes: file.Bytes(), uses: map[tenant.Tenant]*fairshare.Entry[tenant.Tenant, use]{}}
	o.byBundle[b] = opened
	o.bytes += opened.bytes
	o.changed(opened.bytes)
	o.use(t, opened, now)
}

// drop ends a use of a file, and closes the file if it was the last one.
func (o *openFiles) drop(e *fairshare.Entry[tenant.Tenant, use]) {
	file := e.Value.file
	delete(file.uses, e.Tenant())
	o.uses.Remove(e)
	if len(file.uses) == 0 {
		delete(o.byBundle, file.bundle)
		o.bytes -= file.bytes
		o.changed(-file.bytes)
	}
}

// keep closes all files except those of current bundles.
func (o *openFiles) keep(current func(*bundle) bool) {
	for b, file := range o.byBundle {
		if !current(b) {
			for _, e := range file.uses {
				o.drop(e)
			}
		}
	}
}

// indexes returns the names of open indexes.
func (o *openFiles) indexes() map[string]bool {
	names := map[string]bool{}
	for _, file := range o.byBundle {
		if table, ok := file.file.(nativeTable); ok {
			names[table.index] = true
		}
	}
	return names
}

// closeIndex closes an index, so that its disk space becomes free, and returns its name, or "". It
// is the least recently used one of the tenant whose open indexes are the largest. An index that
// several tenants use belongs to the one with the smallest.
func (o *openFiles) closeIndex() string {
	sizes := map[tenant.Tenant]int64{}
	for _, file := range o.byBundle {
		if table, ok := file.file.(nativeTable); ok {
			for t := range file.uses {
				sizes[t] += table.indexSize
			}
		}
	}
	var victim *openFile
	var most int64
	var used time.Time
	for _, file := range o.byBundle {
		if _, ok := file.file.(nativeTable); !ok {
			continue
		}
		size, last := int64(math.MaxInt64), time.Time{}
		for t, e := range file.uses {
			size = min(size, sizes[t])
			if e.Value.at.After(last) {
				last = e.Value.at
			}
		}
		if victim == nil || size > most || size == most && last.Before(used) {
			victim, most, used = file, size, last
		}
	}
	if victim == nil {
		return ""
	}
	for _, e := range victim.uses {
		o.drop(e)
	}
	return victim.file.(nativeTable).index
}
