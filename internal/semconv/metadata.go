// SPDX-License-Identifier: Apache-2.0

package semconv

// Project: client metadata. The key of the Sentry project is SentryProjectID.
const (
	MetadataSentryPublicKey = "sentry.public_key"
	MetadataSentrySDKName   = "sentry.sdk_name"
)
