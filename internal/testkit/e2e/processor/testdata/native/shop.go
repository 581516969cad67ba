// SPDX-License-Identifier: Apache-2.0

// Prints the addresses of its stack: image base, then innermost first.
package main

import (
	"fmt"
	"runtime"
)

type cart struct{ total int }

//go:noinline
func (c *cart) checkout() {
	var stack [64]uintptr
	fmt.Println("0x400000") // programs of Go without cgo are not relocated
	for _, address := range stack[:runtime.Callers(1, stack[:])] {
		fmt.Printf("%#x\n", address)
	}
	c.total++
}

//go:noinline
func pay(c *cart) {
	c.checkout()
	c.total++
}

func main() { pay(&cart{}) }
