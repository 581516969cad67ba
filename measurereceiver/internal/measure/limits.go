// SPDX-License-Identifier: Apache-2.0

package measure

// Limits of the backend.
const (
	// MaxPayloadSize bounds the JSON of the events and spans of one batch, in bytes, without
	// attachments. Strict validation applies it; lenient validation relies on the limit of the
	// body: the published document says 20 MiB.
	MaxPayloadSize = 10 << 20

	maxAttachments    = 5
	maxUserAttributes = 100
	maxUserKey        = 256 // bytes
	maxUserText       = 256 // bytes
	maxMeta           = 4096
	maxCheckpoints    = 100
)

// Limits of our own: the backend has none, but a receiver on the internet needs them.
const (
	// maxItems bounds the events and spans of one batch. The default of SDKs is 10,000, Android's
	// cap is 10,240.
	maxItems = 20_480

	// maxElements and maxItemElements bound the list elements of a batch and of one item. An
	// element takes some 300 bytes of memory and as few as three bytes of the body. The largest
	// recorded batch has 6,900 elements, the largest event 900.
	maxElements     = 200_000
	maxItemElements = 20_000

	// maxDepth bounds the nesting of JSON. Recorded events have 6 levels.
	maxDepth = 64

	// maxHeaders bounds the headers of an http event. The rest is dropped.
	maxHeaders = 128

	// maxParts bounds the parts of a multipart body: items, and attachments of most events.
	maxParts = 2 * maxItems
)
