// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestKeys: the names of what is stored are those of earlier versions.
func TestKeys(t *testing.T) {
	assert.Equal(t, "4711", keyOf(4711))
	assert.Equal(t, "4711.retries", retriesKeyOf(4711))
}
