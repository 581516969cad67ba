package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// TestManyHeadersOfManyResponses: attributes are compared with each other, so that their number has a bound. These took minutes.
func TestManyHeadersOfManyResponses(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"contexts":{"k":1`)
	for context := range 256 {
		b.WriteString(`,"response":{"status_code":200,"headers":{"k":"1"`)
		for header := range 500 {
			fmt.Fprintf(&b, `,"%x":"1"`, context*500+header)
		}
		b.WriteString(`}}`)
	}
	b.WriteString(`}}`)
	event, err := sentry.DecodeEvent([]byte(b.String()))
	require.NoError(t, err)
	record := EventToLogs(event, Source{}).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	require.LessOrEqual(t, record.Attributes().Len(), maxRecordAttributes+maxMembers)
	together, _ := record.Attributes().Get("sentry.context.response")
	headers, _ := together.Map().Get("headers")
	require.Equal(t, 501, headers.Map().Len(), "those of the last response stay together")
}
