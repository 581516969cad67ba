// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TestWideObjects: what has more members than a map may have is kept as text, to the last member,
// and is counted.
func TestWideObjects(t *testing.T) {
	members := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"member%d":%d`, i, i))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	list := "[" + strings.Repeat("1,", attr.MaxMembers) + "7]"
	for _, test := range []struct {
		field, key, last string
		flaws            []discard.Flaw
	}{
		{`"extra":` + members(attr.MaxMembers+1), "sentry.extra", `"member512":512`, []discard.Flaw{{Field: "too_many_members", Count: 1}}},
		{`"extra":{"inside":` + members(attr.MaxMembers+1) + `}`, "sentry.extra", `"member512":512`, []discard.Flaw{{Field: "too_many_members", Count: 1}}},
		{`"contexts":{"mine":` + members(attr.MaxMembers+1) + `}`, "sentry.context.mine", `"member512":512`, []discard.Flaw{{Field: "too_many_members", Count: 1}}},
		{`"contexts":{"response":{"headers":` + members(attr.MaxMembers+1) + `}}`, "sentry.context.response", `"member512":512`, []discard.Flaw{{Field: "too_many_members", Count: 1}}},
		{`"logentry":{"message":"x","params":` + members(attr.MaxMembers+1) + `}`, "sentry.message.parameters", `"member512":512`, []discard.Flaw{{Field: "too_many_members", Count: 1}}},
		{`"logentry":{"message":"x","params":` + list + `}`, "sentry.message.parameters", `7]`, nil},
		{`"contexts":{"mine":` + members(attr.MaxMembers) + `}`, "sentry.context.mine", `"member511":511`, nil},
	} {
		event, err := event.DecodeEvent([]byte("{" + test.field + "}"))
		require.NoError(t, err)
		assert.Equal(t, test.flaws, event.Flaws, test.field[:30])
		record := EventToLogs(event, Source{ProjectID: "1", IncludePII: true}).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		value, ok := record.Attributes().Get(test.key)
		require.True(t, ok, test.field[:30])
		text := strings.ReplaceAll(value.AsString(), `\"`, `"`)
		assert.Contains(t, text, test.last, test.field[:30])
	}
}
