// SPDX-License-Identifier: Apache-2.0

package attr

import "github.com/otelcol-sentry/otelcol-sentry/internal/semconv"

// UserKeys are the conventional attributes for the fields of Sentry's user.
var UserKeys = map[string]string{
	"id":         semconv.UserID,
	"username":   semconv.UserName,
	"name":       semconv.UserFullName,
	"email":      semconv.UserEmail,
	"ip_address": semconv.ClientAddress,
}
