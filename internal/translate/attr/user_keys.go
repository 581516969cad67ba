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

// IsUserKey reports whether an attribute is a field of Sentry's user.
func IsUserKey(key string) bool {
	for _, known := range UserKeys {
		if known == key {
			return true
		}
	}
	return false
}
