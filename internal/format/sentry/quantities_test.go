// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// TestQuantities: the table of Relay's tests/integration/test_proxy.py, without the categories that
// SDKs do not report.
func TestQuantities(t *testing.T) {
	payload := make([]byte, 100)
	for _, c := range []struct {
		header ItemHeader
		want   []Quantity
	}{
		{ItemHeader{Type: "bogus_type"}, nil},
		{ItemHeader{Type: ItemClientReport}, nil},
		{ItemHeader{Type: ItemFormData}, nil},
		{ItemHeader{Type: ItemNel}, nil},
		{ItemHeader{Type: ItemProfileChunk, Platform: "cocoa"}, []Quantity{{CategoryProfileChunkUI, 1}}},
		{ItemHeader{Type: ItemProfileChunk, Platform: "python"}, []Quantity{{CategoryProfileChunk, 1}}},
		{ItemHeader{Type: ItemSession}, []Quantity{{CategorySession, 1}}},
		{ItemHeader{Type: ItemEvent}, []Quantity{{CategoryError, 1}}},
		{ItemHeader{Type: ItemTransaction}, []Quantity{{CategoryTransaction, 1}, {CategorySpan, 1}}},
		{ItemHeader{Type: ItemRawSecurity}, []Quantity{{CategorySecurity, 1}}},
		{ItemHeader{Type: ItemAttachment}, []Quantity{{CategoryAttachment, 100}, {CategoryAttachmentItem, 1}}},
		{ItemHeader{Type: ItemUnrealReport}, []Quantity{{CategoryError, 1}}},
		{ItemHeader{Type: ItemUserReport}, []Quantity{{CategoryFeedback, 1}}},
		{ItemHeader{Type: ItemProfile}, []Quantity{{CategoryProfile, 1}}},
		{ItemHeader{Type: ItemReplayEvent}, []Quantity{{CategoryReplay, 1}}},
		{ItemHeader{Type: ItemReplayRecording}, []Quantity{{CategoryReplay, 1}}},
		{ItemHeader{Type: ItemCheckIn}, []Quantity{{CategoryMonitor, 1}}},
		{ItemHeader{Type: ItemLog}, []Quantity{{CategoryLogItem, 1}, {CategoryLogByte, 100}}},
		{ItemHeader{Type: ItemLog, ItemCount: jsonscan.Some(7)}, []Quantity{{CategoryLogItem, 7}, {CategoryLogByte, 100}}},
		{ItemHeader{Type: ItemSpan, ItemCount: jsonscan.Some(3)}, []Quantity{{CategorySpan, 3}}},
	} {
		assert.Equal(t, c.want, Quantities(&Item{Header: c.header, Payload: payload}), c.header.Type)
	}
	for transaction, spans := range map[string]int64{`{"spans":[{"a":[1]},{}],"x":1}`: 3, `{"spans":[]}`: 1, `{"spans":[1`: 2, `{"spans":7}`: 1} {
		assert.Equal(t, []Quantity{{CategoryTransaction, 1}, {CategorySpan, spans}}, Quantities(&Item{Header: ItemHeader{Type: ItemTransaction}, Payload: []byte(transaction)}), transaction)
	}
}
