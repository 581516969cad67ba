// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// typical is the number of samples in generated payloads. In small size they are small, to check
// only that all benchmarks run.
var typical = payload.FiveMB

// recorded are the recordings.
var recorded []payload.Source

func TestMain(m *testing.M) {
	if os.Getenv(heapChildVariable) != "" {
		heapChild()
		return
	}
	flag.Parse()
	if !testsize.Full() {
		typical /= 50
	} else {
		var err error
		if recorded, err = payload.Recorded(); err != nil {
			panic(err)
		}
	}
	describeRun()
	os.Exit(m.Run())
}

// describeRun prints the commit and the machine in the benchmark format.
func describeRun() {
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	fmt.Printf("date: %s\ncommit: %s\ngo: %s\ncores: %d\n", time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(commit)),
		runtime.Version(), runtime.NumCPU())
}

// onEach runs a benchmark on each payload. It also prints the load average, because ratios measured
// on a busy machine are less reliable.
func onEach(b *testing.B, sources []payload.Source, run func(b *testing.B, p payload.Payload)) {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("load: %s\n", strings.Fields(string(text))[0])
	}
	for _, source := range sources {
		b.Run(source.Name, func(b *testing.B) {
			p, err := source.Load()
			must(err)
			run(b, p)
		})
	}
}

// must ends the program: if a payload cannot be decoded, no figure is meaningful.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
