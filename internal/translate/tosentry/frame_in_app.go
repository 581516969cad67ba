// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// What SDKs of Sentry's say of frames, for frames of other profilers.

const nativePlatform = "native"

// platformOfFrames are Sentry's words for values of profile.frame.type.
var platformOfFrames = map[string]string{
	"beam": "elixir", "cpython": "python", "dotnet": "csharp", "go": "go", attr.HermesFrameType: "javascript", "jvm": "java",
	"kernel": nativePlatform, "luajit": otherPlatform, "native": nativePlatform, "perl": "perl", "php": "php", "ruby": "ruby",
	"rust": "rust", "v8js": "node",
}

// SplitFunction takes the module off the name of a function, where OpenTelemetry's profilers write it in front: Sentry groups by
// module.
//
//	go   net/http.(*Server).Serve  →  net/http, (*Server).Serve
//	jvm  java.lang.Thread.run      →  java.lang.Thread, run
func SplitFunction(f profile.Frame, frameType string) (function, module string) {
	if f.Module != "" {
		return f.Function, f.Module
	}
	switch frameType {
	case "go":
		path := strings.LastIndexByte(f.Function, '/') + 1
		if bracket := strings.IndexByte(f.Function, '['); bracket >= 0 && bracket < path { // of a type parameter
			path = strings.LastIndexByte(f.Function[:bracket], '/') + 1
		}
		if dot := strings.IndexByte(f.Function[path:], '.'); dot > 0 {
			return f.Function[path+dot+1:], f.Function[:path+dot]
		}
	case "jvm":
		name, _, _ := strings.Cut(f.Function, "(") // async-profiler writes signatures
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			return f.Function[dot+1:], f.Function[:dot]
		}
	}
	return f.Function, ""
}

// inApp says whether a frame is the application's, for the languages where Sentry has no rule of its own and takes false unless
// it is told. For the others absent lets Sentry's rule decide.
func inApp(f *profile.Frame, frameType string) profile.InApp {
	switch frameType {
	case "cpython", "php", "rust", "v8js", attr.HermesFrameType:
		return profile.InAppAbsent
	case "kernel":
		return profile.InAppFalse
	case "go":
		return truth(isGoApp(f))
	case "jvm":
		return truth(!hasPrefix(f.Module, jvmPrefixes))
	case "dotnet":
		return truth(!hasPrefix(attr.FirstText(f.Module, f.Function), dotnetPrefixes))
	case "ruby", "perl", "luajit", "beam":
		return truth(attr.FirstText(f.AbsPath, f.Filename) != "" && !containsAny(attr.FirstText(f.AbsPath, f.Filename), libraryPaths))
	}
	return truth(f.Package != "" && !isSystemLibrary(f.Package)) // native, and what there is no name for
}

func truth(inApp bool) profile.InApp {
	if inApp {
		return profile.InAppTrue
	}
	return profile.InAppFalse
}

var (
	// jvmPrefixes are those that Sentry takes for the platform's (vroomrs, Android).
	jvmPrefixes = []string{
		"java.", "javax.", "jakarta.", "kotlin.", "kotlinx.", "android.", "com.android.", "dalvik.", "libcore.", "sun.", "com.sun.",
		"jdk.", "scala.", "io.sentry.",
	}
	dotnetPrefixes = []string{"System.", "Microsoft.", "Interop."}
	// libraryPaths are where package managers put what is not the application's.
	libraryPaths = []string{"/gems/", "/lib/ruby/", "/usr/share/perl", "/usr/lib/", "/usr/local/lib/", "/deps/", "/site-packages/"}
)

// isGoApp: neither the standard library, whose packages have no dot in their first element, nor a module of others.
func isGoApp(f *profile.Frame) bool {
	if file := attr.FirstText(f.AbsPath, f.Filename); containsAny(file, []string{"/pkg/mod/", "/vendor/", "/go/src/"}) {
		return false
	}
	first, _, _ := strings.Cut(f.Module, "/")
	return first == "main" || strings.Contains(first, ".")
}

// isSystemLibrary: shared libraries, and what the system maps into every process. Profilers give the path or only the name.
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
