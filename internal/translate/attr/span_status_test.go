// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"testing"

	"github.com/stretchr/testify/require"
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
