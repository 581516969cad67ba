// SPDX-License-Identifier: Apache-2.0

package attr

import "github.com/otelcol-sentry/otelcol-sentry/internal/semconv"

// UserFields are the fields of Sentry's user with conventional attributes.
var UserFields = []struct{ Name, Key string }{
	{"id", semconv.UserID}, {"username", semconv.UserName}, {"name", semconv.UserFullName}, {"email", semconv.UserEmail}, {"ip_address", semconv.ClientAddress},
}

// UserKey returns the attribute for a field of Sentry's user, or "" if there is no conventional one.
func UserKey(name string) string {
	for i := range UserFields {
		if UserFields[i].Name == name {
			return UserFields[i].Key
		}
	}
	return ""
}

// IsUserKey reports whether an attribute is a field of Sentry's user.
func IsUserKey(key string) bool {
	for i := range UserFields {
		if UserFields[i].Key == key {
			return true
		}
	}
	return false
}
