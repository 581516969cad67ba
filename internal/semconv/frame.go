// SPDX-License-Identifier: Apache-2.0

package semconv

// ProfileFrameType (OTel) is on locations.
const ProfileFrameType = "profile.frame.type"

// PprofScopePrefix (OTel) starts the keys of attributes that only scopes of profiles have.
const PprofScopePrefix = "pprof.scope."

// Project, on locations.
const (
	SentryFrameModule          = "sentry.frame.module"
	SentryFramePackage         = "sentry.frame.package"
	SentryFramePlatform        = "sentry.frame.platform"
	SentryFrameInApp           = "sentry.frame.in_app"
	SentryFrameFilename        = "sentry.frame.filename"         // if abs_path is the file of the function
	SentryFrameAbsPath         = "sentry.frame.abs_path"         // if the frame has no filename
	SentryFrameSignature       = "sentry.frame.signature"        // of a method: overloads that are obfuscated differ in nothing else
	SentryFrameInstructionAddr = "sentry.frame.instruction_addr" // with tag bits, if Location.address has none
)

// Project, on locations: a method of which a trace of Android's runtime has only the ID.
const AndroidMethodID = "android.method.id"
