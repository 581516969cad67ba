// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Profile is the payload of a "profile" item in sample format version 1: one profile for one
// transaction, in the transaction's envelope.
// https://develop.sentry.dev/sdk/telemetry/profiles/sample-format-v1/
type Profile struct {
	Version     string
	EventID     string // Cocoa sends it as "profile_id"
	Platform    string
	Timestamp   jsonscan.Timestamp // origin of Samples.Time
	Release     string
	Dist        string
	Environment string

	Device       Device
	OS           OS
	Runtime      Runtime
	DebugMeta    DebugMeta
	Transaction  *ProfileTransaction // Python and browser send a list "transactions" with this one element
	Measurements []Measurement

	Sampled

	Android *Android // nil = the profile is in sample format
}

// Device is the machine that was profiled. Nil means "not sent", which ingest distinguishes from
// empty text, as sent by Go and browsers.
type Device struct {
	Architecture *string `json:"architecture"`
	IsEmulator   *bool   `json:"is_emulator"`
	Locale       *string `json:"locale"`
	Manufacturer *string `json:"manufacturer"`
	Model        *string `json:"model"`
}

// OS is the operating system of the device. Nil means "not sent".
type OS struct {
	Name        *string `json:"name"`
	Version     *string `json:"version"`
	BuildNumber *string `json:"build_number"`
}

// Runtime is the language runtime. Browsers put the user agent into Version.
type Runtime struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ProfileTransaction is the transaction that a V1 profile belongs to. The transaction item itself
// rarely states the profile.
type ProfileTransaction struct {
	ID             string           `json:"id"` // event ID of the transaction
	Name           string           `json:"name"`
	TraceID        string           `json:"trace_id"`
	SegmentID      string           `json:"segment_id"`       // span ID of the transaction; set by Relay, not by SDKs
	ActiveThreadID jsonscan.Decimal `json:"active_thread_id"` // the thread the transaction ran on

	// The transaction's window within the profile, in nanoseconds from Profile.Timestamp, and in
	// milliseconds of CPU time.
	RelativeStartNS    jsonscan.Uint `json:"relative_start_ns"`
	RelativeEndNS      jsonscan.Uint `json:"relative_end_ns"`
	RelativeCPUStartMS jsonscan.Uint `json:"relative_cpu_start_ms"`
	RelativeCPUEndMS   jsonscan.Uint `json:"relative_cpu_end_ms"`
}
