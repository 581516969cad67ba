// SPDX-License-Identifier: Apache-2.0

// Package bench holds benchmarks only: the receive path, and the way back, against what else one could use. It is a module of
// its own, so that the rivals' dependencies stay out of the product's go.mod.
//
// What is reported are ratios: the contestants take turns within a benchmark (race), so that the speed of the machine and
// what else it does meet all of them. They come in the format of Go's benchmarks, for benchstat.
//
//	make bench                                           all of them, against baseline.txt, and into docs/performance.md
//	go test -bench Gzip/cocoa -benchtime 1x -count 6     one of them
//	go test -bench Parts/map/cocoa -cpuprofile cpu.out   the product alone, in absolute times
package bench
