// SPDX-License-Identifier: Apache-2.0

// Package testsize chooses between the two sizes of the tests. The small size is that of go test:
// at most three seconds of CPU per package, and it still detects a broken mapping of each kind of
// item. The full size adds all recordings, all generated pairs, growth, floods and other people's
// software:
//
//	TESTS=full go test ./...
package testsize

import (
	"os"
	"testing"
)

// Full reports whether the tests run in full size.
func Full() bool { return os.Getenv("TESTS") == "full" }

// NeedFull skips a test that has no small size.
func NeedFull(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("only in full size: TESTS=full")
	}
}
