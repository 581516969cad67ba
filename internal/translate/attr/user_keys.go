// SPDX-License-Identifier: Apache-2.0

package attr

// UserKeys are the conventional names of what Sentry knows of a user.
var UserKeys = map[string]string{
	"id": "user.id", "username": "user.name", "name": "user.full_name", "email": "user.email", "ip_address": "client.address",
}
