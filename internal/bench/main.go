// Command bench measures the receive path, and the way back, against what else one could use, and prints the figures of the project's
// performance targets: what is aimed at, what was measured, whether it was reached. `make bench` runs it.
//
//	go run .                    everything, in less than three minutes on two idle cores
//	go run . -only gzip         the figures whose name contains a word
//	go run . -rounds 11         steadier medians
//
// All figures are ratios within one run, of CPU time, with the contestants taking turns (package measure): absolute numbers
// move from machine to machine and with what else is running; they are printed for orientation only.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
)

// bench is one run.
type bench struct {
	rounds   int
	recorded []payload.Source
}

// figures are in the order of the targets.
var figures = []struct {
	name string
	run  func(*bench)
}{
	{"decode", (*bench).decode},
	{"items", (*bench).items},
	{"gzip", (*bench).gzip},
	{"collector", (*bench).collector},
	{"allocations", (*bench).allocations},
	{"heap", (*bench).heap},
	{"growth", (*bench).growth},
	{"worst", (*bench).worst},
	{"export", (*bench).export},
	{"link", (*bench).link},
}

func main() {
	if heapChild() {
		return
	}
	only := flag.String("only", "", "run only the figures whose name contains this")
	rounds := flag.Int("rounds", 5, "rounds of each comparison")
	flag.Parse()

	b := &bench{rounds: *rounds}
	var err error
	if b.recorded, err = payload.Recorded(); errors.Is(err, payload.ErrNoCorpus) {
		fmt.Println(err)
	} else {
		must(err)
	}
	fmt.Printf("%s %s/%s, GOMAXPROCS %d, load %s; CPU time, median of %d rounds in turns\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), load(), b.rounds)
	start := time.Now()
	printHeader()
	for _, figure := range figures {
		if strings.Contains(figure.name, *only) {
			figure.run(b)
		}
	}
	fmt.Printf("\n%.0f s, load now %s\n", time.Since(start).Seconds(), load())
}

// load says how busy the machine is: a ratio of a run beside a load of ten is worth less.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// roundsFor spends fewer rounds on what takes seconds.
func (b *bench) roundsFor(p payload.Payload) int {
	if p.MB() > 10 {
		return min(b.rounds, 3)
	}
	return b.rounds
}
