// SPDX-License-Identifier: Apache-2.0

package arttrace_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
)

// rustCrate prints what the Rust crate android_trace_log reads.
const rustCrate = "../../testkit/bench/rival/androidtracelog/target/release/androidtracelog"

// TestRustCrate: random traces of all versions that ART writes have the threads, methods and events
// that Relay's parser reads from them.
func TestRustCrate(t *testing.T) {
	if _, err := os.Stat(rustCrate); err != nil {
		t.Skip("no Rust crate: make bench builds it where cargo is installed")
	}
	r := rand.New(rand.NewPCG(17, 20))
	arguments, want, folder := []string{"dump"}, &strings.Builder{}, t.TempDir()
	for i := range 200 {
		trace, events := random(r)
		written := [...]shape{{1, arttrace.ClockGlobal, nil}, {2, arttrace.ClockWall, nil}, {2, arttrace.ClockThreadCPU, nil}, {3, arttrace.ClockDual, nil}}[i%4]
		trace.Version, trace.Clock, trace.PID = written.version, written.clock, "41"
		for i := range trace.Methods { // the crate requires a signature and a file
			m := &trace.Methods[i]
			m.Signature, m.File, m.Line = "(I)V", "C.java", uint32(r.IntN(3))
		}
		data := bytes.Replace(arttracetest.File(trace, events), []byte("vm="), []byte("num-method-calls=0\nvm="), 1) // which the crate requires
		name := filepath.Join(folder, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(name, data, 0o600))
		arguments = append(arguments, name)
		parsed, err := arttrace.Parse(data)
		require.NoError(t, err)
		write(want, parsed)
	}
	got, err := exec.Command(rustCrate, arguments...).CombinedOutput()
	require.NoError(t, err, "%.1000s", got)
	assert.Equal(t, want.String(), string(got))
}
