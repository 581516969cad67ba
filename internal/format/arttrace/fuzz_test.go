// SPDX-License-Identifier: Apache-2.0

package arttrace_test

import "testing"

// FuzzART: nothing makes parsing panic, use memory beyond its bound, or put out what cannot be.
func FuzzART(f *testing.F) {
	for _, shape := range shapes() {
		trace, events := shop(shape.version, shape.clock)
		f.Add(shape.write(trace, events))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = read(t, "", data)
	})
}
