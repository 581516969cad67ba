// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// testNow is the time of conversions and checks.
var testNow = time.Unix(1_777_629_600, 0)

var testOptions = importer.Options{Start: testNow}

// recorded is an envelope with a profile and its transaction.
const recorded = "testdata/cases/sdk-python-v1/in.envelope"

func recording(t *testing.T) []byte {
	body, err := os.ReadFile(filepath.Join(golden.Root(t), recorded))
	require.NoError(t, err)
	return body
}

// eachRequest checks the recorded requests for the size of the tests, several at a time.
func eachRequest(t *testing.T, check func(*testing.T, golden.Request)) {
	t.Run("requests", func(t *testing.T) {
		for _, request := range golden.Sample(t) {
			t.Run(request.Name, func(t *testing.T) {
				t.Parallel()
				check(t, request)
			})
		}
	})
}

// eachCase checks the cases for the size of the tests, several at a time.
func eachCase(t *testing.T, check func(*testing.T, golden.Case)) {
	t.Run("cases", func(t *testing.T) {
		for _, c := range golden.SampleCases(t) {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				check(t, c)
			})
		}
	})
}

// call runs the tool at the root of the repository.
func call(t *testing.T, in string, arguments ...string) (out, errors string, exit int) {
	t.Helper()
	t.Chdir(golden.Root(t))
	var o, e strings.Builder
	exit = run(arguments, environment{in: strings.NewReader(in), out: &o, err: &e})
	return o.String(), e.String(), exit
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// received returns the profiles of an envelope.
func received(t *testing.T, envelope []byte) []pprofile.Profiles {
	t.Helper()
	content, err := profilefile.Readers[profilefile.Sentry](envelope, testOptions)
	require.NoError(t, err)
	return content.Profiles
}

// quiet is a conversion that reports no losses.
func quiet() *conversion {
	return &conversion{dialect: "1.10", environment: environment{err: io.Discard}}
}

// written returns messages in a format. Only OTLP has a version.
func written(t *testing.T, format, version string, messages ...pprofile.Profiles) string {
	t.Helper()
	var file bytes.Buffer
	c := quiet()
	c.dialect = version
	require.NoError(t, writers[format](c, &file, messages))
	return file.String()
}
