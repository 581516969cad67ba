// SPDX-License-Identifier: Apache-2.0

package inapp

import "strings"

// jvmLibraries are the packages that Sentry takes for the platform's (vroomrs, Android).
var jvmLibraries = []string{
	"java.", "javax.", "jakarta.", "kotlin.", "kotlinx.", "android.", "com.android.", "dalvik.", "libcore.", "sun.", "com.sun.",
	"jdk.", "scala.", "io.sentry.",
}

// IsJVMLibrary reports whether a class is of the platform rather than of an application.
func IsJVMLibrary(class string) bool {
	for _, prefix := range jvmLibraries {
		if strings.HasPrefix(class, prefix) {
			return true
		}
	}
	return false
}
