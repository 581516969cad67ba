// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// reportedFiles is the folder of files like those in public bug reports. Files with a judge are in
// testdata/foreign and pprofFiles.
const reportedFiles = "testdata/reported"

// reported is the right result of a file.
type reported struct {
	arguments string // before the file
	total     float64
	stacks    []string // texts in the output
	errors    []string // texts in the errors: losses, or the reason of a failure
	fails     bool
}

// nanos is the total of a profile in milliseconds.
func nanos(milliseconds float64) float64 { return milliseconds * 1e6 }

// exported is the result of every mode of the collector's file exporter: the messages of
// testdata/otlp, and that of the profiles twice.
var exported = reported{
	total: nanos(140), stacks: []string{"main;pay 60000000\n", "main;pay;pay;cart 80000000\n"},
	errors: []string{"2 profiles of cpu", "1 message with spans", "1 message with log records", "1 message with metrics"},
}

// reportedRows has a row for each file. The values are those of the tool of the format.
var reportedRows = map[string]reported{
	"legacy-gobench.cpu":                                       {fails: true, errors: []string{"legacy format of pprof", "go tool pprof -proto"}},
	"legacy-gobench.heap":                                      {fails: true, errors: []string{"legacy format of pprof", "go tool pprof -proto"}},
	"otlp-file-exporter-proto.out":                             {total: nanos(140), stacks: []string{"main;pay;pay;cart 80000000"}, errors: []string{"2 profiles of cpu"}},
	"file-exporter-json.out":                                   exported,
	"file-exporter-json-zstd.out":                              exported,
	"file-exporter-json-native-zstd.out":                       exported,
	"file-exporter-proto.out":                                  exported,
	"file-exporter-proto-zstd.out":                             exported,
	"file-exporter-proto-native-zstd.out":                      exported,
	"otlp-off-cpu-first-then-samples-with-cpu-period.json":     {total: 500, errors: []string{"profiles of cpu"}},
	"otlp-off-cpu-first-then-samples-with-cpu-period.json cpu": {arguments: "--type cpu", errors: []string{"files, lines"}},
	"speedscope-utf8-bom.json":                                 {total: 1, stacks: []string{"a;b 1"}},
}

// TestReportedFiles converts every file to the right result.
func TestReportedFiles(t *testing.T) {
	files, err := os.ReadDir(filepath.Join(golden.Root(t), reportedFiles))
	require.NoError(t, err)
	for _, file := range files {
		assert.Contains(t, reportedRows, file.Name(), "has no row")
	}
	for name, want := range reportedRows {
		t.Run(name, func(t *testing.T) {
			file, _, _ := strings.Cut(name, " ")
			arguments := append([]string{"convert", "--to", "collapsed"}, strings.Fields(want.arguments)...)
			out, errors, exit := call(t, "", append(arguments, filepath.Join(reportedFiles, file))...)
			problems := want.problems(out, errors, exit)
			assert.Empty(t, problems, "%s\n%s", errors, out)
		})
	}
}

// problems returns what is wrong.
func (f reported) problems(out, errors string, exit int) (all []string) {
	if f.fails != (exit != exitOK) {
		all = append(all, "exit "+strconv.Itoa(exit))
	}
	for _, text := range f.errors {
		if !strings.Contains(errors, text) {
			all = append(all, "no "+text)
		}
	}
	for _, text := range f.stacks {
		if !strings.Contains(out, text) {
			all = append(all, "no "+text)
		}
	}
	if got := totalOf(out); f.total != 0 && got != f.total {
		all = append(all, strconv.FormatFloat(got, 'f', -1, 64))
	}
	return all
}

var weight = regexp.MustCompile(`(?m) (-?[\d.]+)$`)

// totalOf returns the total weight of collapsed stacks.
func totalOf(collapsed string) (sum float64) {
	for _, line := range weight.FindAllStringSubmatch(collapsed, -1) {
		n, _ := strconv.ParseFloat(line[1], 64)
		sum += n
	}
	return sum
}
