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

// sdk is an SDK's platform, as stated in its events, and language.
type sdk struct {
	platform string // "" = depends on the program
	language string // "" = that of the platform
}

// sdks maps the names of SDKs, without the "sentry." of today or the "sentry-" and "raven-" of old
// versions. An entry also applies to names that continue it after a dot or a hyphen
// ("sentry.python.flask"), unless a longer one does.
//
// https://github.com/getsentry/sentry-release-registry
var sdks = map[string]sdk{
	"cocoa":  {platform: "cocoa"},
	"dart":   {language: "dart"}, // the convention has no value for it
	"dotnet": {platform: "csharp"},
	"elixir": {platform: "elixir"},
	"go":     {platform: "go"},
	"java":   {platform: "java"},
	"native": {platform: "native"},
	"php":    {platform: "php"},
	"python": {platform: "python"},
	"ruby":   {platform: "ruby"},
	"rust":   {platform: "native", language: "rust"},

	"javascript": {platform: "javascript"}, "js": {platform: "javascript"},
	"javascript.node": {platform: "node"}, "node": {platform: "node"},
	"javascript.aws-serverless":          {platform: "node"},
	"javascript.google-cloud-serverless": {platform: "node"},
	"javascript.serverless":              {platform: "node"},
	"javascript.nestjs":                  {platform: "node"},

	"javascript.astro":         {platform: serverOrBrowser},
	"javascript.effect":        {platform: serverOrBrowser},
	"javascript.electron":      {platform: serverOrBrowser},
	"javascript.hono":          {platform: serverOrBrowser},
	"javascript.nextjs":        {platform: serverOrBrowser},
	"javascript.nuxt":          {platform: serverOrBrowser},
	"javascript.react-router":  {platform: serverOrBrowser},
	"javascript.remix":         {platform: serverOrBrowser},
	"javascript.solidstart":    {platform: serverOrBrowser},
	"javascript.sveltekit":     {platform: serverOrBrowser},
	"javascript.tanstackstart": {platform: serverOrBrowser},
}

// serverOrBrowser marks SDKs with the same name on servers and in browsers.
const serverOrBrowser = "?"

const nameSeparators = ".-"

func sdkOf(name string) (found sdk) {
	end := strings.IndexAny(name, nameSeparators)
	if end < 0 || name[:end] != "sentry" && name[:end] != "raven" {
		return sdk{}
	}
	for rest := name[end+1:]; found == (sdk{}) && rest != ""; rest = rest[:max(0, strings.LastIndexAny(rest, nameSeparators))] {
		found = sdks[rest]
	}
	return found
}

// SDKPlatform returns the platform of an SDK, or "". If the SDK runs on servers and in browsers,
// the user agent of its request decides.
func SDKPlatform(name, userAgent string) string {
	platform := sdkOf(name).platform
	switch {
	case platform != serverOrBrowser:
		return platform
	case strings.HasPrefix(userAgent, "Mozilla/"): // every browser
		return platformBrowser
	}
	return platformNode
}

// DefaultEnvironment returns the environment that an SDK sends with most items if none is
// configured, for the items that then have none: JavaScript's chunks (DEFAULT_ENVIRONMENT in
// packages/core/src/constants.ts).
func (id Identity) DefaultEnvironment() string {
	if platform := SDKPlatform(id.Sdk.Name, ""); platform == platformBrowser || platform == platformNode {
		return "production"
	}
	return ""
}

const platformBrowser, platformNode = "javascript", "node"

// Language returns the value of telemetry.sdk.language. It is derived from the SDK name, not from
// the platform: Android profiles have a different platform from other items of the process.
func (id Identity) Language() string {
	found := sdkOf(id.Sdk.Name)
	if found.platform == "" || found.platform == serverOrBrowser {
		found.platform = id.Platform
	}
	return FirstText(found.language, Platforms[found.platform].Language)
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
