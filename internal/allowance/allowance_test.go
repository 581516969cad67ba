// SPDX-License-Identifier: Apache-2.0

package allowance

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAllowance: the amounts that are granted never exceed the allowance, a refusal uses nothing,
// and the size is computed at most once, if it is needed.
func TestAllowance(t *testing.T) {
	random := rand.New(rand.NewPCG(54, 2))
	for range 200 {
		first, second, computed, granted := random.IntN(50), random.IntN(50), 0, 0
		a := Lazily(first, 3, func() int { computed++; return second })
		for range 40 {
			n := random.IntN(20)
			if a.Spend(n) {
				granted += n
				continue
			}
			assert.Equal(t, 1, computed)
			assert.Equal(t, first+3*second-granted, a.Left())
			assert.Greater(t, n, a.Left())
		}
		assert.LessOrEqual(t, granted, first+3*second)
		if granted < first {
			assert.LessOrEqual(t, computed, 1)
		}
	}
	refused := errors.New("refused")
	a := Of(1)
	assert.Equal(t, refused, a.Demand(2, refused))
	assert.NoError(t, a.Demand(1, refused))
	assert.Zero(t, a.Left())
}
