// SPDX-License-Identifier: Apache-2.0

package waiting

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
)

// TestIn: functions as profilers of each runtime report them.
func TestIn(t *testing.T) {
	for name, frame := range map[string]inapp.Frame{
		"Python":                {Type: "cpython", Module: "threading", Function: "Condition.wait", File: "/usr/lib/python3.11/threading.py"},
		"Python before 3.11":    {Type: "cpython", Module: "threading", Function: "wait", File: "/usr/lib/python3.9/threading.py"},
		"Python without module": {Type: "cpython", Function: "EpollSelector.select", File: "/usr/lib/python3.11/selectors.py"},
		"nested function of an SDK": {Type: "cpython", Module: "sentry_sdk.monitor", Function: "Monitor._ensure_running.<locals>._thread",
			File: "/venv/lib/python3.11/site-packages/sentry_sdk/monitor.py"},
		"Java":                     {Type: "jvm", Module: "jdk.internal.misc.Unsafe", Function: "park"},
		"class in the name":        {Type: "jvm", Function: "java.lang.Object.wait0(long)"},
		"Go with module":           {Type: "go", Module: "net/http", Function: "(*persistConn).writeLoop"},
		"Go without module":        {Type: "go", Function: "net/http.(*persistConn).writeLoop"},
		"runtime of Go":            {Type: "go", Function: "runtime.gopark"},
		"Ruby":                     {Type: "ruby", Function: "Kernel#sleep", File: "<cfunc>"},
		"nested class of Ruby":     {Type: "ruby", Function: "Thread::Queue#pop", File: "<cfunc>"},
		".NET":                     {Type: "dotnet", Module: "System.Threading.Monitor", Function: "Wait"},
		"Darwin":                   {Type: "native", Function: "__psynch_cvwait", Package: "/usr/lib/system/libsystem_kernel.dylib"},
		"glibc":                    {Type: "native", Function: "epoll_wait", Package: "/lib/x86_64-linux-gnu/libc.so.6"},
		"glibc before 2.34":        {Type: "native", Function: "epoll_wait", Package: "/lib/x86_64-linux-gnu/libc-2.31.so"},
		"bionic":                   {Type: "native", Function: "__epoll_pwait", Package: "/apex/com.android.runtime/lib64/bionic/libc.so"},
		"method of C++ in Android": {Type: "native", Function: "art::ConditionVariable::WaitHoldingLocks(art::Thread*)", Package: "/apex/com.android.art/lib64/libart.so"},
	} {
		assert.True(t, In(frame), name)
	}
}

// TestWorkIsNoWait: functions that compute, with names of functions that wait. For each runtime, an
// application has its own function of such a name.
func TestWorkIsNoWait(t *testing.T) {
	for name, frame := range map[string]inapp.Frame{
		"own method of Python":     {Type: "cpython", Module: "shop.threading", Function: "Condition.wait", File: "/srv/shop/threading.py"},
		"own module of Python":     {Type: "cpython", Module: "socket", Function: "Socket.accept", File: "/srv/app/socket.py"},
		"sleep in Python":          {Type: "cpython", Module: "__main__", Function: "main", File: "/srv/app/web.py"},
		"own class of Java":        {Type: "jvm", Module: "com.example.Unsafe", Function: "park"},
		"work of java.lang":        {Type: "jvm", Module: "java.lang.Object", Function: "hashCode"},
		"own package of Go":        {Type: "go", Module: "shop/time", Function: "Sleep"},
		"work of net/http":         {Type: "go", Module: "net/http", Function: "Header.Clone"},
		"own class of Ruby":        {Type: "ruby", Function: "Shop::Queue#pop", File: "/srv/shop.rb"},
		"own class of .NET":        {Type: "dotnet", Module: "Shop.Monitor", Function: "Wait"},
		"own binary":               {Type: "native", Function: "poll", Package: "/srv/bin/shop"},
		"own library":              {Type: "native", Function: "select", Package: "/srv/lib/libshop.so"},
		"function without a place": {Function: "wait"},
		"V8":                       {Type: "v8js", Module: "threading", Function: "wait", File: "/srv/threading.js"},
		"no name":                  {},
		"endless arguments":        {Type: "jvm", Function: "java.lang.Object.wait0(" + strings.Repeat("x", maxText)},
	} {
		assert.False(t, In(frame), name)
	}
}

// TestTable: each function has one row, and a source.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range table {
		assert.False(t, seen[row.scope], row.scope)
		seen[row.scope] = true
		assert.NotEmpty(t, row.names, row.scope)
		assert.NotEmpty(t, row.source, row.scope)
	}
}

// TestBusyLoop: a busy loop of an application is never a wait, in any runtime, not even in a
// function with the name of one that waits. The tests of real SDKs check their busy functions, too.
func TestBusyLoop(t *testing.T) {
	busy := map[string]func(scope, name string) inapp.Frame{
		"cpython": func(scope, name string) inapp.Frame {
			return inapp.Frame{Module: scope, Function: name, File: "/srv/app/" + strings.ReplaceAll(scope, ".", "/") + ".py"}
		},
		"jvm": func(scope, name string) inapp.Frame {
			return inapp.Frame{Module: "com.example." + scope, Function: name}
		},
		"go": func(scope, name string) inapp.Frame {
			return inapp.Frame{Module: "example.com/" + scope, Function: name}
		},
		"dotnet": func(scope, name string) inapp.Frame { return inapp.Frame{Module: "Example." + scope, Function: name} },
		"ruby": func(scope, name string) inapp.Frame {
			return inapp.Frame{Function: "Shop::" + scope + "#" + name, File: "/srv/app/shop.rb"}
		},
		"native": func(_, name string) inapp.Frame { return inapp.Frame{Function: name, Package: "/srv/bin/shop"} },
		"php":    func(_, name string) inapp.Frame { return inapp.Frame{Function: name, File: "/srv/app/shop.php"} },
		"v8js": func(scope, name string) inapp.Frame {
			return inapp.Frame{Module: scope, Function: name, File: "/srv/app/shop.js"}
		},
	}
	for runtime, of := range busy {
		for _, row := range table {
			for _, name := range strings.Fields(row.names) {
				frame := of(row.scope, name)
				frame.Type = runtime
				assert.False(t, In(frame), "%s: %+v", runtime, frame)
			}
		}
	}
}
