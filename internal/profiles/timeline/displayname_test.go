// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDisplayName(t *testing.T) {
	for _, c := range []struct {
		frame    Frame
		want     string
		minified bool
	}{
		{Frame{Name: "run", Module: "java.lang.Thread", JVM: true}, "Thread.run", false},
		{Frame{Name: "invokeSuspend", Module: "com.example.Shop$load$1", JVM: true}, "Shop$load$1.invokeSuspend", false},
		{Frame{Name: "main", Module: "Main", JVM: true}, "Main.main", false},
		{Frame{Name: "java.lang.Thread.run()", Module: "java.lang.Thread", JVM: true}, "java.lang.Thread.run()", false},
		{Frame{Name: "run", JVM: true}, "run", false},
		{Frame{Name: "a", Module: "a.b.c", JVM: true}, "c.a", true},
		{Frame{Name: "id", Module: "com.example.Order", JVM: true}, "Order.id", false},
		{Frame{Name: "work", Module: "shop.app", File: "app.py"}, "work", false},
		{Frame{Name: "l", File: "https://shop.example/app.min.js"}, "l", true},
		{Frame{Name: "l", File: "node_modules/lib/index.js", InApp: InAppNo}, "l", false},
		{Frame{Name: "go", File: "main.go"}, "go", false},
		{Frame{Name: "é", File: "app.js"}, "é", false},
	} {
		assert.Equal(t, c.want, c.frame.DisplayName())
		assert.Equal(t, c.minified, c.frame.Minified(), "%+v", c.frame)
	}
}
