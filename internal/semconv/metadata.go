// SPDX-License-Identifier: Apache-2.0

package semconv

// Project: client metadata. The key of the Sentry project is SentryProjectID.
const (
	MetadataSentryLinkKey   = "sentry.link_key" // equal for messages that must reach the same collector to be linked
	MetadataSentryPublicKey = "sentry.public_key"
	MetadataSentrySDKName   = "sentry.sdk_name"
)
