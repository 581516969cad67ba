// SPDX-License-Identifier: Apache-2.0

// Package bench compares the receive path, and the translation back to Sentry, with alternatives.
// It is a separate module, to keep the dependencies of the alternatives out of the main go.mod.
//
// The results are ratios: the candidates alternate within a benchmark (race), so the speed and the
// load of the machine affect all of them. The output has the format of Go's benchmarks, for
// benchstat.
//
//	make bench                                           all of them, against baseline.txt, and into docs/performance.md
//	go test -bench Gzip/cocoa -benchtime 1x -count 6     one of them
//	go test -bench Parts/map/cocoa -cpuprofile cpu.out   the product alone, in absolute times
package bench
