package translate

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// TestPersonalDataInSpans: cookies and credentials stay behind however deep they are, and also where an object is too large
// to be taken apart.
func TestPersonalDataInSpans(t *testing.T) {
	members := []string{`"HTTP_COOKIE":"secret-7"`}
	for i := range 2 * maxMembers {
		members = append(members, fmt.Sprintf(`"key-%d":%d`, i, i))
	}
	transaction, err := sentry.DecodeTransaction([]byte(`{"type":"transaction","start_timestamp":1777629599.5,"timestamp":1777629600.5,
	 "user":{"id":"17","email":"secret-1@example.com","ip_address":"203.0.113.77","data":{"email":"secret-8"}},
	 "request":{"url":"http://x/","cookies":"a=secret-2","headers":{"Authorization":"secret-3","Accept":"visible-1"},"env":{"REMOTE_ADDR":"203.0.113.77"}},
	 "extra":{"environ":{"HTTP_COOKIE":"secret-4"},"user":{"id":"visible-3","email":"secret-9","ip_address":"203.0.113.77"},
	  "request":{"cookies":{"sid":"secret-10"}},"large":{` + strings.Join(members, ",") + `}},
	 "contexts":{"user":{"email":"secret-11"},"custom":{"y":{"Authorization":"secret-5","kept":"visible-2"}},
	  "trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","data":{"call":{"cookie":"secret-6"}}}}}`))
	require.NoError(t, err)
	for _, include := range []bool{false, true} {
		marshaler := ptrace.JSONMarshaler{}
		text, err := marshaler.MarshalTraces(TransactionToTraces(transaction, Source{ProjectID: "1", IncludePII: include}))
		require.NoError(t, err)
		for i := range 11 {
			secret := fmt.Sprintf("secret-%d", i+1)
			require.Equal(t, include, regexp.MustCompile(secret+`\b`).Match(text), secret)
		}
		require.Equal(t, include, strings.Contains(string(text), "203.0.113.77"))
		require.Contains(t, string(text), "visible-1")
		require.Contains(t, string(text), "visible-2")
		require.Contains(t, string(text), "visible-3")
	}
}
