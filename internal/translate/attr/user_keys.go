// SPDX-License-Identifier: Apache-2.0

package attr

import "github.com/otelcol-sentry/otelcol-sentry/internal/semconv"

// userFields are the fields of Sentry's user with conventional attributes.
var userFields = []struct{ Name, Key string }{
	{"id", semconv.UserID}, {"username", semconv.UserName}, {"name", semconv.UserFullName}, {"email", semconv.UserEmail}, {"ip_address", semconv.ClientAddress},
}

// UserKey returns the attribute for a field of Sentry's user, or "" if there is no conventional
// one.
func UserKey(name string) string {
	for i := range userFields {
		if userFields[i].Name == name {
			return userFields[i].Key
		}
	}
	return ""
}

// UserField is the inverse of UserKey.
func UserField(key string) string {
	for i := range userFields {
		if userFields[i].Key == key {
			return userFields[i].Name
		}
	}
	return ""
}
