// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// This file derives the fields that Sentry's SDKs set, for frames of other profilers.

const nativePlatform = "native"

// platformOfFrames are Sentry's platforms for values of profile.frame.type.
var platformOfFrames = map[string]string{
	"beam": "elixir", "cpython": "python", "cuda": nativePlatform, "dotnet": "csharp", "go": "go", attr.HermesFrameType: "javascript", "jvm": "java",
	"kernel": nativePlatform, "luajit": otherPlatform, "native": nativePlatform, "perl": "perl", "php": "php", "ruby": "ruby",
	"rust": "rust", "v8js": "node",
}

// splitFunction splits the module from the function name, where OpenTelemetry's profilers write it
// in front: Sentry groups by module.
//
//	go   net/http.(*Server).Serve  →  net/http, (*Server).Serve
//	jvm  java.lang.Thread.run      →  java.lang.Thread, run
func splitFunction(f profile.Frame, frameType string) (function, module string) {
	if f.Module != "" {
		return f.Function, f.Module
	}
	switch frameType {
	case "go":
		return stacktext.SplitGo(f.Function)
	case "jvm":
		name, _, _ := strings.Cut(f.Function, "(") // async-profiler writes signatures
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			return f.Function[dot+1:], f.Function[:dot]
		}
	}
	return f.Function, ""
}

// InApp classifies frames of languages for which Sentry has no rule and assumes false. For the
// other languages it returns absent, so that Sentry's rule applies.
func InApp(f *profile.Frame, frameType string) profile.InApp {
	switch frameType {
	case "cpython", "php", "rust", "v8js", attr.HermesFrameType:
		return profile.InAppAbsent
	}
	if inapp.Compiled(inapp.Frame{
		Type: frameType, Function: f.Function, Module: f.Module, File: attr.FirstText(f.AbsPath, f.Filename), Package: f.Package,
	}) {
		return profile.InAppTrue
	}
	return profile.InAppFalse
}
