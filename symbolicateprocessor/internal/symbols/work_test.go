// SPDX-License-Identifier: Apache-2.0

package symbols_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// pool is a symbols.Memory.
type pool struct{ left, held int64 }

var errPool = errors.New("nothing left")

func (p *pool) Acquire(n int64) error {
	if n > p.left {
		return errPool
	}
	p.left, p.held = p.left-n, p.held+n
	return nil
}

func (p *pool) ShrinkTo(n int64) { p.left, p.held = p.left+p.held-n, n }

func TestWork(t *testing.T) {
	const size, small = 10 << 20, 1 << 24
	w := symbols.NewWork(t.Context(), size, symbols.Limits{Steps: 3, Memory: 2}, nil)
	require.NoError(t, w.Step(small+3*size-1))
	var err error
	for range 1 << 18 {
		if err = w.Step(1); err != nil {
			break
		}
	}
	assert.ErrorIs(t, err, symbols.ErrSteps)
	assert.ErrorIs(t, w.Step(0), symbols.ErrSteps)
	_, err = io.ReadAll(w.Reader(strings.NewReader("x")))
	assert.ErrorIs(t, err, symbols.ErrSteps)

	require.NoError(t, w.Claim(size))
	require.NoError(t, w.Claim(size))
	for _, bytes := range []int64{2 * size, math.MaxInt64, -1, math.MinInt64} {
		assert.ErrorIs(t, w.Claim(bytes), symbols.ErrMemory, bytes)
	}
	w.Free(size)
	require.NoError(t, w.Claim(size))
	assert.EqualValues(t, 2*size, w.Peak())
	assert.NoError(t, symbols.NewWork(t.Context(), math.MaxInt64, symbols.Limits{Steps: 3, Memory: 3}, nil).Claim(math.MaxInt64))
}

// TestWorkEnds: a job ends soon after its context, and gives the shared memory back.
func TestWorkEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	shared := &pool{left: 100}
	w := symbols.NewWork(ctx, 1<<30, symbols.Limits{Steps: 100, Memory: 1}, shared)
	require.NoError(t, w.Claim(60))
	assert.ErrorIs(t, w.Claim(60), errPool)
	w.Free(20)
	assert.EqualValues(t, 60, shared.left)
	require.NoError(t, w.Claim(60))
	cancel()
	for range 1 << 16 {
		if err := w.Step(1); err != nil {
			assert.ErrorIs(t, err, context.Canceled)
			return
		}
	}
	t.Error("not cancelled")
}
