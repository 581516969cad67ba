// SPDX-License-Identifier: Apache-2.0

package exception

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Platforms maps languages of stack traces to Sentry's platforms.
var Platforms = map[stacktext.Language]string{
	stacktext.Python: "python", stacktext.Java: "java", stacktext.JavaScript: "javascript", stacktext.DotNet: "csharp", stacktext.Go: "go",
	stacktext.Ruby: "ruby", stacktext.PHP: "php", stacktext.Native: "native", stacktext.Elixir: "elixir",
}

// InApp reports whether a frame of a stack trace belongs to the application, by the rules for
// profiles, and whether this is known.
func InApp(language stacktext.Language, f *stacktext.Frame) (inApp, known bool) {
	if f.Runtime {
		return false, true
	}
	platform := Platforms[language]
	if language == stacktext.Native { // as from profilers of Rust: with functions and files, rarely with binaries
		platform = "rust"
	}
	return inapp.Guess(inapp.Frame{
		Type: attr.Platforms[platform].FrameType, Function: f.Function, Module: f.Module, File: strings.ReplaceAll(f.File, `\`, "/"), Package: f.Package,
	})
}
