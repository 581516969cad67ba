// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// TestDumpedValues: the kind of a value shows, whatever takes more than a line is spread, and
// nothing can pass for something else.
func TestDumpedValues(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{"7", `a = "7"`},
		{int64(7), `a = 7`},
		{7.0, `a = 7.0`},
		{1e21, `a = 1000000000000000000000.0`},
		{true, `a = true`},
		{nil, `a = nothing`},
		{[]byte{1, 255}, `a = 0x01ff`},
		{[]any{}, `a = []`},
		{[]any{int64(1), "x"}, `a = [1, "x"]`},
		{map[string]any{"b = c": int64(1)}, `a = {"b = c": 1}`},
		{"one\ntwo", "a =\n  | one\n  | two"},
		{map[string]any{"long": strings.Repeat("x", lineWidth)}, "a\n  long = \"" + strings.Repeat("x", lineWidth) + `"`},
		{[]any{strings.Repeat("x", lineWidth), int64(1)}, "a\n  - \"" + strings.Repeat("x", lineWidth) + "\"\n  - 1"},
	} {
		value := pcommon.NewValueEmpty()
		require.NoError(t, value.FromRaw(test.value))
		d := dumper{}
		d.value(0, keyText("a"), value)
		require.Equal(t, test.want+"\n", d.out.String())
	}
}

// TestDumpedReceipt: what is placed by the time of receipt reads the same every time, and nothing
// else does.
func TestDumpedReceipt(t *testing.T) {
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	receipt := Receipt{From: now.Add(-time.Second), To: now}
	logs := plog.NewLogs()
	record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetTimestamp(pcommon.NewTimestampFromTime(now.Add(-time.Minute)))
	record.SetObservedTimestamp(pcommon.NewTimestampFromTime(now))
	require.Equal(t, "resource\nscope\nrecord\n  time      2026-05-01T09:59:00Z\n  observed  receipt\n", DumpLogs(logs, receipt))
}
