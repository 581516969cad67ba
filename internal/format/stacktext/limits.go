// SPDX-License-Identifier: Apache-2.0

package stacktext

const (
	// maxFrames is the maximum number of frames of an exception: Relay truncates stacks at 250. As
	// in Relay, frames in the middle are dropped, because the ends show where a recursion began and
	// where it failed.
	maxFrames  = 250
	halfFrames = maxFrames / 2

	// maxExceptions is the maximum number of exceptions of a trace. Sentry's SDKs truncate chains
	// at 50 exceptions or fewer.
	maxExceptions = 50

	// bytesPerShared limits the frames that lines such as Java's "... 12 more" represent to one
	// frame for every 8 bytes of text. A frame takes 60 bytes, and recorded chains omit up to three
	// times as many frames as they contain.
	bytesPerShared = 8

	// maxRepeats is the maximum number of Python's lines for repeated frames: 40 bytes of text
	// become up to 250 frames.
	maxRepeats = 20
)
