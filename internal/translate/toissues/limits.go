// SPDX-License-Identifier: Apache-2.0

package toissues

const (
	// maxCrumbs is the default limit of breadcrumbs in SDKs (max_breadcrumbs).
	maxCrumbs = 100

	// maxAlsoOn bounds the spans that an event names: an exception passes a few spans.
	maxAlsoOn = 20

	// maxValue bounds a message, and maxFrameText a function or file: Relay cuts there (relay-event-schema: "message", "symbol").
	maxValue, maxFrameText = 8192, 256

	// maxExtra bounds an attribute of the extra data, and maxStacktrace a text without frames.
	maxExtra, maxStacktrace = 4096, 64 << 10

	// Sentry ignores tags beyond these lengths.
	maxTagKey, maxTagValue = 32, 200
)
