// SPDX-License-Identifier: Apache-2.0

package attr

import "github.com/otelcol-sentry/otelcol-sentry/internal/semconv"

// UserKeys are the conventional names of what Sentry knows of a user.
var UserKeys = map[string]string{
	"id":         semconv.UserID,
	"username":   semconv.UserName,
	"name":       semconv.UserFullName,
	"email":      semconv.UserEmail,
	"ip_address": semconv.ClientAddress,
}
