// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// The names of the method traces of Android.
const (
	GeneratedTrace = "generated"
	RecordedTrace  = "recorded"
	streaming      = " streaming"
)

// AndroidTraces returns method traces of Android by name, in both formats: a generated one, and in
// full size a recorded one if the recordings are beside the repository.
func AndroidTraces(t testing.TB) map[string][]byte {
	t.Helper()
	trace, events := arttracetest.App()
	traces := map[string][]byte{GeneratedTrace: arttracetest.File(trace, events), GeneratedTrace + streaming: arttracetest.Streaming(trace, events)}
	if !testsize.Full() {
		return traces
	}
	for name, file := range map[string]string{RecordedTrace: "art-trace-regular.trace.gz", RecordedTrace + streaming: "art-trace-streaming.trace.gz"} {
		file, err := os.Open(filepath.Join(Root(t), "..", "shared", "corpus", "android", file))
		if os.IsNotExist(err) {
			t.Logf("without the %s trace: see testdata/corpus/README.md", name)
			continue
		}
		require.NoError(t, err)
		unzipped, err := gzip.NewReader(file)
		require.NoError(t, err)
		traces[name], err = io.ReadAll(unzipped)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	return traces
}
