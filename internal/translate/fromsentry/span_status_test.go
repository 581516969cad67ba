// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/relaytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TestStatusOracle: Sentry's own library stores each name, number and alias as the name that
// setStatus writes.
func TestStatusOracle(t *testing.T) {
	relaytest.Python(t)
	sent := slices.Concat(attr.StatusNames[:], slices.Collect(maps.Keys(statusAliases)))
	for i := range attr.StatusNames {
		sent = append(sent, fmt.Sprint(i))
	}
	var events [][]byte
	for _, status := range sent {
		text := status
		if text[0] > '9' {
			text = `"` + text + `"`
		}
		events = append(events, fmt.Appendf(nil, `{"type":"transaction","start_timestamp":0,"timestamp":1,`+
			`"contexts":{"trace":{"trace_id":"0318bd57836a097a5038cd223d23c721","span_id":"0318bd57836a097a","status":%s}}}`, text))
	}
	for i, stored := range relaytest.Strip(t, events) {
		var event struct {
			Contexts struct{ Trace struct{ Status string } }
		}
		require.NoError(t, json.Unmarshal(stored[0], &event))
		status := ptrace.NewStatus()
		setStatus(status, sent[i], "")
		got := status.Message()
		if status.Code() == ptrace.StatusCodeOk {
			got = "ok"
		}
		assert.Equal(t, event.Contexts.Trace.Status, got, sent[i])
	}
}
