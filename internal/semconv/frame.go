// SPDX-License-Identifier: Apache-2.0

package semconv

// ProfileFrameType (OTel) is on locations.
const ProfileFrameType = "profile.frame.type"

// Project, on locations.
const (
	SentryFrameModule          = "sentry.frame.module"
	SentryFramePackage         = "sentry.frame.package"
	SentryFramePlatform        = "sentry.frame.platform"
	SentryFrameInApp           = "sentry.frame.in_app"
	SentryFrameFilename        = "sentry.frame.filename"         // if abs_path is the file of the function
	SentryFrameAbsPath         = "sentry.frame.abs_path"         // if the frame has no filename
	SentryFrameInstructionAddr = "sentry.frame.instruction_addr" // with tag bits, if Location.address has none
)
