// SPDX-License-Identifier: Apache-2.0

package perfetto_test

import "testing"

// FuzzPerfetto: nothing makes parsing panic, use memory beyond its bound, or put out what cannot be.
func FuzzPerfetto(f *testing.F) {
	f.Add(shop())
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = parse(t, "", data)
	})
}
