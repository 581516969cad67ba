// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Sender is the sender of an item, in values of which there are few.
type Sender struct {
	SDK     string // sentry.javascript.browser
	project string // its number
	version string // of the SDK, 10.78
}

const (
	other   = "other"   // a value that is not told apart
	unknown = "unknown" // the client does not state it
)

// Unidentified is the sender of items whose sender is in doubt, or is one of too many.
var Unidentified = Sender{other, other, other}

// NewSender returns a sender. The project is a number or "".
func NewSender(project string, sdk sentry.ClientSDK) Sender {
	if project == "" {
		project = unknown
	}
	return Sender{SDK: sdkLabel(sdk.Name), project: project, version: versionLabel(sdk.Version)}
}

// sdkFamilies are the second parts of the names of Sentry's SDKs. The third part is a framework:
// sentry.php.laravel.
var sdkFamilies = map[string]bool{
	"browser": true, "cocoa": true, "cordova": true, "dart": true, "dotnet": true, "elixir": true, "go": true, "godot": true,
	"java": true, "javascript": true, "kotlin": true, "native": true, "perl": true, "php": true, "python": true, "relay": true,
	"ruby": true, "rust": true, "unity": true, "unreal": true,
}

// maxLabel is longer than any name of an SDK: sentry.java.spring-boot.jakarta has 31 bytes.
const maxLabel = 48

// sdkLabel returns the name of an SDK of Sentry, or of its predecessor raven; else "other".
func sdkLabel(name string) string {
	name = strings.ToLower(name)
	if name == "" {
		return unknown
	}
	family, framework, _ := strings.Cut(strings.TrimPrefix(name, "sentry."), ".")
	ours := strings.HasPrefix(name, "sentry.") && (sdkFamilies[family] || sdkFamilies[prefixBefore(family, "-")])
	if raven := strings.HasPrefix(name, "raven-"); !ours && !raven || len(name) > maxLabel || !isLabel(family) || !isLabel(framework) {
		return other
	}
	return name
}

func prefixBefore(text, separator string) string {
	prefix, _, _ := strings.Cut(text, separator)
	return prefix
}

func isLabel(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// versionLabel returns major and minor version: patch versions would triple the series and rarely
// explain a loss.
func versionLabel(version string) string {
	if version == "" {
		return unknown
	}
	major, rest, _ := strings.Cut(version, ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if !isShortNumber(major) || !isShortNumber(minor) {
		return other
	}
	return major + "." + minor
}

// isShortNumber reports whether a text is a number of up to four digits, enough for the years in
// the versions of Unreal.
func isShortNumber(text string) bool {
	return text != "" && len(text) <= 4 && strings.Trim(text, "0123456789") == ""
}
