// SPDX-License-Identifier: Apache-2.0

// Command page writes the results of the benchmarks into docs/performance.md, and prints the missed
// targets.
//
//	go run ./page ../../../docs/performance.md baseline.txt ../../../dist/bench.txt
//	go run ./page -check …                   writes nothing, and fails if the page has not these figures, or others
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	checking := flag.Bool("check", false, "only compare which figures there are")
	flag.Parse()
	if flag.NArg() != 3 {
		fmt.Fprintln(os.Stderr, "usage: page [-check] PAGE BASELINE RUN")
		os.Exit(2)
	}
	if err := update(flag.Arg(0), flag.Arg(1), flag.Arg(2), *checking); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func update(file, baselineFile, runFile string, checking bool) error {
	baseline, err := readResults(baselineFile)
	if err != nil {
		return err
	}
	run, err := readResults(runFile)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	texts, err := texts(string(page), run, baseline)
	if err != nil {
		return err
	}
	filled, err := fill(string(page), texts)
	if err != nil {
		return err
	}
	if checking {
		return check(string(page), filled)
	}
	fmt.Print(targets(run.all()))
	return os.WriteFile(file, []byte(filled), 0o644)
}
