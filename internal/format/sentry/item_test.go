// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestItemTypeKnown(t *testing.T) {
	for known := range itemCategories {
		assert.True(t, known.Known())
		assert.Equal(t, string(known), known.Label())
	}
	for _, unknown := range []ItemType{"", "unknown", "integration", "Profile", "profile ", "vroom\n"} {
		assert.False(t, unknown.Known(), unknown)
		assert.Equal(t, "unknown", unknown.Label())
		assert.Empty(t, unknown.Category())
	}
}

func TestItemTypeCategory(t *testing.T) {
	assert.Equal(t, CategoryError, ItemEvent.Category())
	assert.Equal(t, CategoryMonitor, ItemCheckIn.Category())
	assert.Equal(t, CategoryLogItem, ItemLog.Category())
	assert.Empty(t, ItemClientReport.Category(), "client reports are never limited")
}
