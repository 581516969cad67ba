// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// TestExpectedResponse: a response that the client did not consider an error is none in Sentry.
func TestExpectedResponse(t *testing.T) {
	for _, c := range []struct {
		kind ptrace.SpanKind
		code ptrace.StatusCode
		want string
	}{
		{ptrace.SpanKindClient, ptrace.StatusCodeUnset, "ok"},
		{ptrace.SpanKindClient, ptrace.StatusCodeError, "not_found"},
		{ptrace.SpanKindServer, ptrace.StatusCodeUnset, "not_found"},
		{ptrace.SpanKindServer, ptrace.StatusCodeOk, "ok"},
	} {
		span := ptrace.NewSpan()
		span.SetKind(c.kind)
		span.Status().SetCode(c.code)
		span.Attributes().PutInt("http.response.status_code", 404)
		require.Equal(t, c.want, StatusName(span, false), "%v %v", c.kind, c.code)
	}
}
