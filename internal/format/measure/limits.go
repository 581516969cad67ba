// SPDX-License-Identifier: Apache-2.0

package measure

// Rules of the backend.
const (
	// MaxPayloadSize is what the events and spans of one batch may have together, in bytes of JSON; attachments do not count.
	// Strict validation applies it, lenient leaves it to the limit of the body: the published document says 20 MiB.
	MaxPayloadSize = 10 << 20

	maxAttachments    = 5
	maxUserAttributes = 100
	maxUserKey        = 256 // bytes
	maxUserText       = 256 // bytes
	maxMeta           = 4096
	maxCheckpoints    = 100
)

// Limits of ours: the backend has none, and a receiver that everybody on the internet may reach needs them.
const (
	// maxItems is how many events and spans one batch may have: the default is 10,000, Android's own cap 10,240.
	maxItems = 20_480

	// maxElements and maxItemElements bound the list elements of a batch and of one of its items, each of which takes some
	// 300 bytes of memory and may take three of the body. The largest recorded batch has 6,900, the largest event 900.
	maxElements     = 200_000
	maxItemElements = 20_000

	// maxDepth of nested JSON; recorded events go 6 deep.
	maxDepth = 64

	// maxHeaders of an http event; the rest is dropped.
	maxHeaders = 128

	// maxParts of a multipart body: items, and attachments of most events.
	maxParts = 2 * maxItems
)
