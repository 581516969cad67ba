// SPDX-License-Identifier: Apache-2.0

// Command program is a program with inlined functions, for TestSymbolizer.
package main

import (
	"fmt"
	"os"
	"sort"
)

type item struct{ cents int }

func (i item) tax(percent int) int { return i.cents * percent / 100 }
func (i item) price() int          { return i.cents + i.tax(19) }

//go:noinline
func total(items []item) (sum int) {
	for _, i := range items {
		sum += i.price()
	}
	return sum
}

func main() {
	var items []item
	for i := range 10 * len(os.Args) {
		items = append(items, item{i * 100})
	}
	sort.Slice(items, func(a, b int) bool { return items[a].price() < items[b].price() })
	fmt.Println(total(items))
}
