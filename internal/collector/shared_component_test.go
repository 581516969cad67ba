// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
)

type config struct{ _ int }

func TestRelease(t *testing.T) {
	var m PerConfig[config, int]
	a, b := new(config), new(config)
	makeOne := func() (*int, error) { return new(int), nil }
	first, err := m.Acquire(a, makeOne)
	require.NoError(t, err)
	again, _ := m.Acquire(a, makeOne)
	other, _ := m.Acquire(b, makeOne)
	assert.Same(t, first, again)
	assert.NotSame(t, first, other)
	assert.False(t, m.Release(a, first))
	assert.True(t, m.Release(a, first))
	fresh, _ := m.Acquire(a, makeOne)
	assert.NotSame(t, first, fresh)
	assert.False(t, m.Release(a, first), "it is gone")
	m.Forget(a, first)
	assert.Len(t, m.all, 2, "the fresh one is not")
	_, err = m.Acquire(new(config), func() (*int, error) { return nil, errors.New("no") })
	assert.Error(t, err)
	assert.Len(t, m.all, 2)
}

// lived counts what happens to it.
type lived struct {
	starts, stops int
	err           error
}

func (l *lived) Start(context.Context, component.Host) error { l.starts++; return l.err }
func (l *lived) Shutdown(context.Context) error              { l.stops++; return nil }

func TestComponents(t *testing.T) {
	var all SharedComponents[config, *lived]
	cfg := new(config)
	acquire := func() *SharedComponent[*lived] {
		c, err := all.Acquire(cfg, func() (*lived, error) { return &lived{}, nil })
		require.NoError(t, err)
		return c
	}
	a, b := acquire(), acquire()
	assert.Same(t, a.Shared, b.Shared)
	a.Shared.err = errors.New("address in use")
	assert.Error(t, a.Start(t.Context(), nil))
	a.Shared.err = nil
	assert.NoError(t, a.Start(t.Context(), nil), "another signal tries again")
	assert.NoError(t, b.Start(t.Context(), nil))
	assert.Equal(t, 2, a.Shared.starts)

	assert.NoError(t, b.Shutdown(t.Context()))
	assert.Empty(t, all.all)
	fresh := acquire()
	assert.NotSame(t, a.Shared, fresh.Shared, "as after a reload")
	assert.NoError(t, a.Shutdown(t.Context()))
	assert.Equal(t, 1, a.Shared.stops)
	assert.ErrorIs(t, a.Start(t.Context(), nil), errStopped)
	assert.NoError(t, fresh.Shutdown(t.Context()), "without Start")
	assert.Equal(t, 1, fresh.Shared.stops)
	assert.Empty(t, all.all)
}
