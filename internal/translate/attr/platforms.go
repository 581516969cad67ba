// SPDX-License-Identifier: Apache-2.0

package attr

import "strings"

// platform contains OpenTelemetry's names for a Sentry platform.
type platform struct {
	Language  string // telemetry.sdk.language
	FrameType string // profile.frame.type
}

// Platforms maps Sentry's platforms. Chromium is the only browser engine with the profiling API, so
// JavaScript also means V8.
var Platforms = map[string]platform{
	"android":    {"java", "jvm"},
	"c":          {"cpp", "native"},
	"cocoa":      {"swift", "native"},
	"csharp":     {"dotnet", "dotnet"},
	"elixir":     {"erlang", "beam"},
	"go":         {"go", "go"},
	"java":       {"java", "jvm"},
	"javascript": {"webjs", "v8js"},
	"native":     {"cpp", "native"},
	"node":       {"nodejs", "v8js"},
	"perl":       {"", "perl"},
	"php":        {"php", "php"},
	"python":     {"python", "cpython"},
	"ruby":       {"ruby", "ruby"},
	"rust":       {"rust", "rust"},
}

// EventPlatform returns the platform of an event or a transaction: Relay accepts fewer platforms
// for them than for profiles and spans (VALID_PLATFORMS). Sentry's SDK for Rust sends "native".
func EventPlatform(platform string) string {
	switch platform {
	case "rust":
		return "native"
	case "android":
		return "java"
	case "as3", "c", "cfml", "cocoa", "csharp", "elixir", "haskell", "go", "groovy", "java", "javascript", "native", "node", "objc", "perl", "php",
		"python", "ruby":
		return platform
	}
	return "other"
}

// HermesFrameType is a custom value of profile.frame.type for React Native's engine, for which the
// convention has no value.
const HermesFrameType = "hermes"

// hostArchs maps architectures that SDKs send to values of host.arch. Others are kept.
var hostArchs = map[string]string{
	"aarch64": "arm64", "arm64e": "arm64", "arm64-v8a": "arm64",
	"arm": "arm32", "armv7": "arm32", "armv7l": "arm32", "armv7s": "arm32", "armeabi-v7a": "arm32",
	"x86_64": "amd64", "x64": "amd64", "x86_64h": "amd64",
	"i386": "x86", "i686": "x86", "ia32": "x86",
	"ppc64le": "ppc64",
}

func HostArch(architecture string) string {
	if word, known := hostArchs[strings.ToLower(architecture)]; known {
		return word
	}
	return architecture
}

// OsTypes maps OS names that SDKs send, in lower case, to values of os.type.
var OsTypes = map[string]string{
	"linux": "linux", "android": "linux", "ubuntu": "linux", "debian gnu/linux": "linux", "alpine linux": "linux", "chrome os": "linux",
	"darwin": "darwin", "macos": "darwin", "mac os x": "darwin", "ios": "darwin", "ipados": "darwin", "tvos": "darwin",
	"watchos": "darwin", "visionos": "darwin",
	"windows": "windows", "win32": "windows", "microsoft windows": "windows", "freebsd": "freebsd", "netbsd": "netbsd", "openbsd": "openbsd",
	"dragonfly": "dragonflybsd", "solaris": "solaris", "sunos": "solaris", "aix": "aix",
}
