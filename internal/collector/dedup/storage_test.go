// SPDX-License-Identifier: Apache-2.0

package dedup

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup/deduptest"
)

type host struct {
	component.Host
	storage component.Component
}

var (
	storageID  = component.MustNewID("file_storage")
	receiverID = component.MustNewID("sentry")
)

func (h host) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{storageID: h.storage}
}

// open returns a started window of n IDs, and its logs.
func open(t *testing.T, m *deduptest.Memory, n int) (*Window, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.WarnLevel)
	w := New(Config{MaxIDs: n, MaxAge: time.Hour, Storage: &storageID})
	require.NoError(t, w.Start(t.Context(), host{componenttest.NewNopHost(), m}, receiverID, zap.New(core)))
	return w, logs
}

// TestRestarts: after each of many restarts a window is as it was, whatever tenants and numbers of
// IDs were accepted before, and the storage does not grow beyond it.
func TestRestarts(t *testing.T) {
	const size = 20
	random := rand.New(rand.NewPCG(1, 2))
	m := deduptest.NewMemory()
	for range 30 {
		w, logs := open(t, m, size)
		assert.Empty(t, logs.All())
		for range random.IntN(3 * size) {
			accept(t, w, idOf(strings.Repeat("x", random.IntN(3)), byte(random.IntN(100))))
		}
		require.NoError(t, w.Shutdown(t.Context()))
		again, _ := open(t, m, size)
		for id := range w.accepted {
			assert.Contains(t, again.accepted, id)
		}
		assert.LessOrEqual(t, len(again.accepted), size)
		assert.LessOrEqual(t, len(m.Values), size+1, "a slot per ID, and their number")
	}
}

func TestStoredIDs(t *testing.T) {
	m := deduptest.NewMemory()
	w, _ := open(t, m, 10)
	now := time.Now()
	for n := range byte(5) {
		accept(t, w, ID{Tenant: "42", Kind: "span", Value: [24]byte{n, 1, 2, 3}})
	}
	incomplete, err := w.TryBegin(idOf("42", 99))
	require.NoError(t, err)
	require.NoError(t, incomplete.Finish(t.Context(), 1))
	assert.Len(t, m.Values, 5+1, "incomplete data is not stored")

	smaller, _ := open(t, m, 2)
	assert.Len(t, smaller.accepted, 2)
	assert.True(t, accept(t, smaller, ID{Tenant: "42", Kind: "span", Value: [24]byte{4, 1, 2, 3}}), "the latest")

	m.Values["slot/2"][3] ^= 1
	m.Values["slot/3"] = []byte("short")
	damaged, logs := open(t, m, 10)
	assert.Len(t, damaged.accepted, 3)
	assert.EqualValues(t, 2, logs.All()[0].ContextMap()["ids"])

	old := New(Config{MaxIDs: 10, MaxAge: time.Hour})
	old.now = func() time.Time { return now.Add(2 * time.Hour) }
	_, err = old.load(t.Context(), m)
	require.NoError(t, err)
	assert.Empty(t, old.accepted, "expired")
}

func TestStorageErrors(t *testing.T) {
	w := New(Config{MaxIDs: 10, MaxAge: time.Hour, Storage: &storageID})
	err := w.Start(t.Context(), componenttest.NewNopHost(), receiverID, zap.NewNop())
	assert.ErrorContains(t, err, `dedup: storage: "file_storage"`)

	m := deduptest.NewMemory()
	m.Err = errors.New("disk full")
	assert.ErrorContains(t, w.Start(t.Context(), host{componenttest.NewNopHost(), m}, receiverID, zap.NewNop()), "disk full")

	m.Err = nil
	w, _ = open(t, m, 10)
	m.Err = errors.New("disk full")
	a, err := w.TryBegin(idOf("", 1))
	require.NoError(t, err)
	assert.ErrorContains(t, a.Finish(t.Context(), All), "disk full")
	assert.True(t, accept(t, w, idOf("", 1)), "remembered in memory")
	m.Err = nil
	require.NoError(t, w.Shutdown(t.Context()))
	assert.False(t, accept(t, w, idOf("", 2)), "without the storage from then on")
}
