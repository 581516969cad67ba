// SPDX-License-Identifier: Apache-2.0

package inapp

// jvmLibraries are the packages that Sentry regards as part of the platform (vroomrs, Android).
var jvmLibraries = []string{
	"java.", "javax.", "jakarta.", "kotlin.", "kotlinx.", "android.", "com.android.", "dalvik.", "libcore.", "sun.", "com.sun.",
	"jdk.", "scala.", "io.sentry.",
}

// IsJVMLibrary reports whether a class belongs to the platform rather than to an application.
func IsJVMLibrary(class string) bool { return hasPrefix(class, jvmLibraries...) }
