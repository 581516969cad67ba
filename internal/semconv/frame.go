// SPDX-License-Identifier: Apache-2.0

package semconv

// ProfileFrameType is of OpenTelemetry's conventions, on locations.
const ProfileFrameType = "profile.frame.type"

// Ours, on locations.
const (
	SentryFrameModule          = "sentry.frame.module"
	SentryFramePackage         = "sentry.frame.package"
	SentryFramePlatform        = "sentry.frame.platform"
	SentryFrameInApp           = "sentry.frame.in_app"
	SentryFrameFilename        = "sentry.frame.filename"         // where the frame has abs_path as well, which is the function's file
	SentryFrameAbsPath         = "sentry.frame.abs_path"         // where the frame has no filename
	SentryFrameInstructionAddr = "sentry.frame.instruction_addr" // as sent, where Location.address is without its tag bits
)
