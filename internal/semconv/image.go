// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel, on mappings.
const (
	ProcessExecutableBuildIDGNU     = "process.executable.build_id.gnu"
	ProcessExecutableBuildIDGo      = "process.executable.build_id.go"
	ProcessExecutableBuildIDHtlhash = "process.executable.build_id.htlhash"
)

// Project, on mappings.
const (
	SentryDebugID        = "sentry.debug_id" // Mach-O, PDB, WebAssembly
	SentryImageType      = "sentry.image.type"
	SentryImageCodeID    = "sentry.image.code_id"
	SentryImageDebugFile = "sentry.image.debug_file"
	SentryImageUUID      = "sentry.image.uuid"
	SentryImageArch      = "sentry.image.arch"
	SentryImageVMAddr    = "sentry.image.vmaddr"
)
