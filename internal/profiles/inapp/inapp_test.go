// SPDX-License-Identifier: Apache-2.0

package inapp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
)

func TestGuess(t *testing.T) {
	for _, c := range []struct {
		frame         inapp.Frame
		inApp, states bool
	}{
		{inapp.Frame{Type: "cpython", File: "/srv/app/venv/lib/python3.11/site-packages/flask/app.py"}, false, true},
		{inapp.Frame{Type: "cpython", File: "/usr/lib/python3.11/threading.py"}, false, true},
		{inapp.Frame{Type: "cpython", File: "<frozen importlib._bootstrap>"}, false, true},
		{inapp.Frame{Type: "cpython", File: "/srv/app/shop.py"}, true, true},
		{inapp.Frame{Type: "cpython", File: "<string>"}, true, true}, // in the project's folder for Sentry's SDK
		{inapp.Frame{Type: "cpython"}, true, false},
		{inapp.Frame{Type: "v8js", File: "node:internal/timers"}, false, true},
		{inapp.Frame{Type: "v8js", File: "/srv/node_modules/@sentry/core/index.js"}, false, true},
		{inapp.Frame{Type: "v8js", File: "/srv/app/server.js"}, true, true},
		{inapp.Frame{Type: "v8js", Function: "(garbage collector)"}, false, true},
		{inapp.Frame{Type: "v8js", Function: "anonymous"}, false, false},
		{inapp.Frame{Type: "go", Module: "net/http", File: "/usr/local/go/src/net/http/server.go"}, false, true},
		{inapp.Frame{Type: "go", Module: "github.com/x/y", File: "/root/go/pkg/mod/github.com/x/y@v1/y.go"}, false, true},
		{inapp.Frame{Type: "go", Module: "example.com/shop/cart", File: "/src/cart.go"}, true, true},
		{inapp.Frame{Type: "go", Module: "main"}, true, true},
		{inapp.Frame{Type: "jvm", Module: "java.lang.Thread"}, false, true},
		{inapp.Frame{Type: "jvm", Module: "com.example.Cart"}, true, true},
		{inapp.Frame{Type: "php", File: "/app/vendor/symfony/x.php"}, false, true},
		{inapp.Frame{Type: "php", File: "/app/src/x.php"}, true, true},
		{inapp.Frame{Type: "rust", File: "/rustc/abc/library/core/src/ops.rs"}, false, true},
		{inapp.Frame{Type: "rust", Function: "shop::checkout", File: "./src/main.rs"}, true, true},
		{inapp.Frame{Type: "rust", Function: "<<alloc::vec::Vec<T>>::map", File: "./src/main.rs"}, false, true},
		{inapp.Frame{Type: "rust", Function: "std::rt::lang_start"}, false, true},
		{inapp.Frame{Type: "rust", Function: "main"}, true, false},
		{inapp.Frame{Type: "rust", Function: "main", Package: "/lib/x86_64-linux-gnu/libc.so.6"}, false, true},
		{inapp.Frame{Type: "rust", Function: "__libc_start_call_main", File: "./csu/../sysdeps/nptl/libc_start_call_main.h"}, false, true},
		{inapp.Frame{Type: "beam", File: "lib/enum.ex", Package: "elixir"}, false, true},
		{inapp.Frame{Type: "beam", File: "lib/shop.ex", Package: "shop"}, true, true},
		{inapp.Frame{Type: "ruby", File: "/usr/local/bundle/gems/rack/lib/rack.rb"}, false, true},
		{inapp.Frame{Type: "ruby", File: "/app/shop.rb"}, true, true},
		{inapp.Frame{Type: "dotnet", Module: "System.Linq"}, false, true},
		{inapp.Frame{Type: "kernel", Function: "do_syscall_64"}, false, true},
		{inapp.Frame{Type: "native", Package: "/usr/lib/libc.so.6"}, false, true},
		{inapp.Frame{Type: "native", Package: "/app/server"}, true, true},
		{inapp.Frame{Type: "native", Package: `C:\WINDOWS\System32\ntdll.dll`}, false, true},
		{inapp.Frame{Type: "native", Package: "KERNELBASE.dll"}, false, true},
		{inapp.Frame{Type: "native", Package: `D:\shop\cart.dll`}, true, true},
		{inapp.Frame{File: "/srv/node_modules/x.js"}, false, true},
		{inapp.Frame{File: "/srv/app/x.js"}, true, true},
		{inapp.Frame{Module: "java.util.List"}, false, true},
		{inapp.Frame{Module: "shop"}, false, false},
		{inapp.Frame{}, false, false},
	} {
		inApp, known := inapp.Guess(c.frame)
		assert.Equal(t, c.states, known, "%+v", c.frame)
		if known {
			assert.Equal(t, c.inApp, inApp, "%+v", c.frame)
		}
	}
}
