// SPDX-License-Identifier: Apache-2.0

package semconv

// Keys of client metadata, ours. That of the project is SentryProjectID.
const (
	MetadataSentryPublicKey = "sentry.public_key"
	MetadataSentrySDKName   = "sentry.sdk_name"
)
