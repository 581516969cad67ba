// SPDX-License-Identifier: Apache-2.0

// Shop writes the trace of a failure, as OpenTelemetry's SDK records it (debug.Stack), and Go's own
// list of its frames.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	cart "example.com/shop/cart.v2"
)

type server struct{ name string }

func (s *server) handle(path string) { cart.Stock{}.Reserve(path) }

var cases = map[string]func(){
	"method":    func() { (&server{}).handle("SKU-1") },
	"generic":   func() { (&cart.Cart[string]{}).Item(3) },
	"closure":   func() { cart.Each([]int{1}, func(i int) { func() { (&server{}).handle("x") }() }) },
	"nil":       func() { var s *server; fmt.Println(s.name) },
	"sorted":    func() { slices.SortFunc([]int{2, 1}, func(a, b int) int { panic(fmt.Errorf("two\nlines")) }) },
	"goroutine": func() { done := make(chan struct{}); go later(done); <-done },
	"deferred":  func() { defer func() { (&server{}).handle(fmt.Sprint(recover())) }(); panic("first") },
}

func later(done chan struct{}) {
	defer close(done)
	run("goroutine", func() { (&server{}).handle("later") })
}

func run(name string, fails func()) {
	defer func() {
		if recover() != nil {
			write(name+".txt", string(debug.Stack()))
			write(name+".frames", frames())
		}
	}()
	fails()
}

func frames() string {
	counters := make([]uintptr, 100)
	callers := runtime.CallersFrames(counters[:runtime.Callers(2, counters)])
	var lines []string
	for {
		f, more := callers.Next()
		lines = append(lines, fmt.Sprintf("  %s %s:%d\n", f.Function, f.File, f.Line))
		if !more {
			slices.Reverse(lines)
			return strings.Join(lines, "")
		}
	}
}

func write(name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		panic(err)
	}
}

func main() {
	for name, fails := range cases {
		run(name, fails)
	}
}
