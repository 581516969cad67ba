// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// openFor opens a file for a tenant if it is not open, and reports whether it is.
func openFor(o *openFiles, t tenant.Tenant, b *bundle, bytes int64, now time.Time) bool {
	if o.get(t, b, now) != nil {
		return true
	}
	if !o.makeRoom(t, bytes, now) {
		return false
	}
	o.add(t, b, indexSize(bytes), now)
	return true
}

// Whatever others open, a tenant that uses less than an equal share keeps its files, including
// those that others use, too.
func TestOpenFilesAreShared(t *testing.T) {
	const limit = 1000
	seeds := uint64(5)
	if testsize.Full() {
		seeds = 100
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		removed, now := 0, time.Unix(0, 0)
		o := newSharedFiles(limit, func(*bundle, symbolFile) { removed++ })
		others := 1 + random.IntN(4)
		share := int64(limit / (others + 1))
		all := make([]*bundle, 100) // with a size of 1 to 300
		for i := range all {
			all[i] = new(bundle)
		}
		var own []*bundle
		used := int64(0)
		for range 2000 {
			now = now.Add(time.Second)
			if random.IntN(20) == 0 {
				i := random.IntN(len(all))
				if bytes := int64(1 + 3*i); o.uses.Use(appB) != used || used+bytes <= share {
					if o.byKey[all[i]] == nil || o.byKey[all[i]].uses[appB] == nil {
						used += bytes
						own = append(own, all[i])
					}
					require.True(t, openFor(o, appB, all[i], bytes, now))
				}
			}
			i := random.IntN(len(all))
			openFor(o, project(random.IntN(others)), all[i], int64(1+3*i), now)
			for _, b := range own {
				if o.get(appB, b, now) == nil {
					t.Fatal("a file of a tenant below its share is closed")
				}
			}
			if o.uses.Use(appB) != used || o.bytes > limit {
				t.Fatal(o.uses.Use(appB), used, o.bytes)
			}
		}
		require.NotEmpty(t, own)
		before := removed
		open := len(o.byKey)
		o.keep(func(*bundle, symbolFile) bool { return false })
		assert.Equal(t, open, removed-before)
		assert.Zero(t, o.bytes)
		assert.Zero(t, o.uses.Len())
	}
}

// A tenant alone may use the whole limit, also beside tenants that were active before. Beside
// active ones, it cannot open what does not fit.
func TestIdleFiles(t *testing.T) {
	now := time.Unix(0, 0)
	o := newSharedFiles(1000, func(*bundle, symbolFile) {})
	small, other, large := new(bundle), new(bundle), new(bundle)
	require.True(t, openFor(o, appB, small, 100, now))
	require.True(t, openFor(o, appA, other, 900, now))
	assert.False(t, openFor(o, appA, large, 950, now), "it is more than the others leave")
	assert.NotNil(t, o.get(appB, small, now))
	now = now.Add(idleAfter)
	assert.True(t, openFor(o, appA, large, 1000, now))
	assert.Nil(t, o.get(appB, small, now))
	assert.False(t, o.makeRoom(appA, 1001, now), "more than the limit")
}

// The number of uses has a limit, because tenants may cost nothing.
func TestUsesAreLimited(t *testing.T) {
	testsize.NeedFull(t)
	o := newSharedFiles(1000, func(*bundle, symbolFile) {})
	b := new(bundle)
	for i := range maxUses + 100 {
		openFor(o, project(i), b, 1, time.Unix(0, 0))
	}
	assert.Equal(t, maxUses, o.uses.Len())
	assert.Len(t, o.byKey[b].uses, maxUses)
	assert.Equal(t, int64(1), o.bytes)
}
