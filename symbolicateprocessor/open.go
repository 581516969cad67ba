// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// sharedFiles holds files, in memory or on disk, within a limit. Several tenants may use a file: it
// counts in the share of each, and stays until each has lost it. At the limit, the least recently
// used files are removed, in this order:
//
//   - files that no tenant has used for idleAfter;
//   - files of the tenant that uses the most bytes.
//
// A tenant that uses less than an equal share therefore keeps its files, and one that would exceed
// its share at the expense of others cannot add more.
type sharedFiles[K comparable, F sized] struct {
	limit   int64
	removed func(K, F) // called after the last use of a file has ended
	byKey   map[K]*sharedFile[K, F]
	uses    fairshare.Queue[tenant.Tenant, use[K, F]] // the least recent first
	bytes   int64                                     // of all files
}

type sized interface{ Bytes() int64 }

// sharedFile is a file with the uses that keep it.
type sharedFile[K comparable, F sized] struct {
	key   K
	file  F
	bytes int64
	uses  map[tenant.Tenant]*fairshare.Entry[tenant.Tenant, use[K, F]]
}

// use is the last use of a file by a tenant.
type use[K comparable, F sized] struct {
	file *sharedFile[K, F]
	at   time.Time
}

// openFiles are the files in memory.
type openFiles = sharedFiles[*bundle, symbolFile]

const (
	// idleAfter is the time after which a file may be removed for any tenant. SDKs send profiles
	// every minute.
	idleAfter = 10 * time.Minute

	// maxUses limits the memory for uses to about 10 MB, because tenants without a list of projects
	// cost nothing.
	maxUses = 1 << 16
)

func newSharedFiles[K comparable, F sized](limit int64, removed func(K, F)) *sharedFiles[K, F] {
	return &sharedFiles[K, F]{limit: limit, removed: removed, byKey: map[K]*sharedFile[K, F]{}}
}

// get returns a file for a tenant, or the zero value.
func (s *sharedFiles[K, F]) get(t tenant.Tenant, key K, now time.Time) (file F) {
	known := s.byKey[key]
	if known == nil {
		return file
	}
	s.use(t, known, now)
	return known.file
}

// use makes a tenant's use of a file the most recent one.
func (s *sharedFiles[K, F]) use(t tenant.Tenant, file *sharedFile[K, F], now time.Time) {
	if before := file.uses[t]; before != nil {
		s.uses.Remove(before)
	}
	file.uses[t] = s.uses.Push(t, use[K, F]{file, now}, file.bytes)
	for s.uses.Len() > maxUses {
		s.drop(s.uses.LargestOldest())
	}
}

// makeRoom removes files until a tenant can add another one, and reports whether it can.
func (s *sharedFiles[K, F]) makeRoom(t tenant.Tenant, bytes int64, now time.Time) bool {
	for s.bytes+bytes > s.limit {
		victim := s.uses.Oldest()
		if victim == nil {
			return false
		}
		if now.Sub(victim.Value.at) < idleAfter {
			victim = s.uses.LargestOldest()
			if victim.Tenant() != t && s.uses.Use(victim.Tenant()) <= s.uses.Use(t)+bytes {
				if victim = s.uses.OldestOf(t); victim == nil {
					return false
				}
			}
		}
		s.drop(victim)
	}
	return true
}

// add adds a file of a tenant, after makeRoom.
func (s *sharedFiles[K, F]) add(t tenant.Tenant, key K, file F, now time.Time) {
	added := &sharedFile[K, F]{key: key, file: file, bytes: file.Bytes(), uses: map[tenant.Tenant]*fairshare.Entry[tenant.Tenant, use[K, F]]{}}
	s.byKey[key] = added
	s.bytes += added.bytes
	s.use(t, added, now)
}

// drop ends a use of a file, and removes the file if it was the last one.
func (s *sharedFiles[K, F]) drop(e *fairshare.Entry[tenant.Tenant, use[K, F]]) {
	file := e.Value.file
	delete(file.uses, e.Tenant())
	s.uses.Remove(e)
	if len(file.uses) == 0 {
		delete(s.byKey, file.key)
		s.bytes -= file.bytes
		s.removed(file.key, file.file)
	}
}

// forget forgets a file that somebody else has removed.
func (s *sharedFiles[K, F]) forget(file *sharedFile[K, F]) {
	for _, e := range file.uses {
		s.uses.Remove(e)
	}
	delete(s.byKey, file.key)
	s.bytes -= file.bytes
}

// keep removes all files except those that match.
func (s *sharedFiles[K, F]) keep(matches func(K, F) bool) {
	for key, file := range s.byKey {
		if !matches(key, file.file) {
			for _, e := range file.uses {
				s.drop(e)
			}
		}
	}
}
