// SPDX-License-Identifier: Apache-2.0

package toissues

const (
	// maxCrumbs is the default number of breadcrumbs in SDKs (max_breadcrumbs).
	maxCrumbs = 100

	// maxAlsoOn is the maximum number of other spans in an event: an exception passes through a few
	// spans.
	maxAlsoOn = 20

	// maxValue is the maximum size of a message, and maxFrameText that of a function or file: Relay
	// truncates at these sizes (relay-event-schema: "message", "symbol").
	maxValue, maxFrameText = 8192, 256

	// maxExtra is the maximum size of an attribute in extra data, and maxStacktrace that of a text
	// without frames.
	maxExtra, maxStacktrace = 4096, 64 << 10

	// Sentry ignores tags beyond these lengths.
	maxTagKey, maxTagValue = 32, 200

	// maxMethod is Relay's limit for HTTP methods, in characters.
	maxMethod = 32
)
