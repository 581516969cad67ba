// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestStatusOfHTTP(t *testing.T) {
	for code, want := range map[int64]string{
		100: "", 200: "", 399: "", 400: "invalid_argument", 401: "unauthenticated", 402: "invalid_argument", 403: "permission_denied",
		404: "not_found", 409: "already_exists", 413: "failed_precondition", 429: "resource_exhausted", 498: "invalid_argument",
		499: "cancelled", 500: "internal_error", 501: "unimplemented", 502: "internal_error", 503: "unavailable", 504: "deadline_exceeded",
		600: "internal_error",
	} {
		require.Equal(t, want, statusOfHTTP(code), code)
	}
}

// TestStatusOfRPC: since the conventions 1.45, the status is a word in rpc.status_code.
func TestStatusOfRPC(t *testing.T) {
	for _, test := range []struct {
		key  string
		code any
		want string
	}{
		{"rpc.status_code", "DEADLINE_EXCEEDED", "deadline_exceeded"}, {"rpc.status_code", "INTERNAL", "internal_error"}, {"rpc.status_code", "OK", ""},
		{"rpc.status_code", "-32602", ""}, {"rpc.response.status_code", "NOT_FOUND", "not_found"}, {"rpc.grpc.status_code", 14, "unavailable"},
		{"rpc.grpc.status_code", 0, ""},
	} {
		attrs := pcommon.NewMap()
		require.NoError(t, attrs.FromRaw(map[string]any{test.key: test.code}))
		require.Equal(t, test.want, ResponseStatus(attrs), test)
	}
}
