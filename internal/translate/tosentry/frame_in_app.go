// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// This file derives the fields that Sentry's SDKs set, for frames of other profilers.

const nativePlatform = "native"

// platformOfFrames are Sentry's platforms for values of profile.frame.type.
var platformOfFrames = map[string]string{
	"beam": "elixir", "cpython": "python", "dotnet": "csharp", "go": "go", attr.HermesFrameType: "javascript", "jvm": "java",
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
	case "kernel":
		return profile.InAppFalse
	case "go":
		return inAppIf(isGoApp(f))
	case "jvm":
		return inAppIf(!attr.IsJVMLibrary(f.Module))
	case "dotnet":
		return inAppIf(!hasPrefix(attr.FirstText(f.Module, f.Function), dotnetPrefixes))
	case "ruby", "perl", "luajit", "beam":
		return inAppIf(attr.FirstText(f.AbsPath, f.Filename) != "" && !containsAny(attr.FirstText(f.AbsPath, f.Filename), libraryPaths))
	}
	return inAppIf(f.Package != "" && !isSystemLibrary(f.Package)) // native and unknown types
}

func inAppIf(inApp bool) profile.InApp {
	if inApp {
		return profile.InAppTrue
	}
	return profile.InAppFalse
}

var (
	dotnetPrefixes = []string{"System.", "Microsoft.", "Interop."}
	// libraryPaths are the folders of package managers.
	libraryPaths = []string{"/gems/", "/lib/ruby/", "/usr/share/perl", "/usr/lib/", "/usr/local/lib/", "/deps/", "/site-packages/"}
)

// isGoApp reports whether a frame is neither in the standard library, whose packages have no dot in
// their first element, nor in a module cache or vendor folder.
func isGoApp(f *profile.Frame) bool {
	if file := attr.FirstText(f.AbsPath, f.Filename); containsAny(file, []string{"/pkg/mod/", "/vendor/", "/go/src/"}) {
		return false
	}
	first, _, _ := strings.Cut(f.Module, "/")
	return first == "main" || strings.Contains(first, ".")
}

// isSystemLibrary reports whether a path is a shared library, the kernel or a mapping of the
// system. Profilers state the path or only the name.
func isSystemLibrary(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return hasPrefix(path, []string{"/usr/lib", "/lib", "/System/", "["}) || strings.Contains(name, ".so") || strings.HasSuffix(name, ".dylib") ||
		strings.HasPrefix(name, "vmlinux") || strings.HasPrefix(name, "ld-")
}

func hasPrefix(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
