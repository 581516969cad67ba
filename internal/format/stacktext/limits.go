// SPDX-License-Identifier: Apache-2.0

package stacktext

const (
	// maxFrames bounds the frames of an exception: Relay cuts stacks at 250. Both ends stay, the middle goes, as in Relay: the ends tell
	// where a recursion began and where it failed.
	maxFrames  = 250
	halfFrames = maxFrames / 2

	// maxExceptions bounds the exceptions of a trace. The chains of Sentry's SDKs end at 50 exceptions at the latest.
	maxExceptions = 50

	// bytesPerShared bounds the frames that Java's "... 12 more" stands for: a frame for so many bytes of text. A line of a frame has 60
	// bytes, and recorded chains leave out up to three times the frames that they have.
	bytesPerShared = 8

	// maxRepeats bounds the lines of Python that stand for repeated frames: 40 bytes of text make up to 250 frames.
	maxRepeats = 20
)
