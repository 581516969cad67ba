// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/cmd/envelope/internal/envelopescrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
)

var scrubCommand = command{
	name:      "scrub",
	arguments: "ENVELOPE",
	summary:   "Remove personal data from an envelope for a bug report, and keep its shape",
	examples: []string{
		"envelope scrub testdata/cases/include-pii/in.envelope > $OUT/report.envelope",
		"envelope scrub --out $OUT/report.envelope testdata/cases/event-python/in.envelope",
	},
	prepare: func(flags *flag.FlagSet) func(environment, []string) error {
		out := flags.String("out", "-", "`file` to write")
		return func(env environment, files []string) error { return scrubEnvelope(env, files, *out) }
	},
}

// scrubEnvelope writes an envelope without personal data. The changes are listed on stderr.
func scrubEnvelope(env environment, files []string, out string) error {
	inputs, err := env.read(files)
	if err != nil {
		return err
	}
	if len(inputs) != 1 {
		return misuse("name one envelope: each is a file of its own")
	}
	if envelope, _ := profilefile.ReadEnvelope(inputs[0].data); len(envelope.Items) == 0 {
		if hint := misfit(inputs[0].data); hint != "" {
			return errors.New("it is no envelope" + hint)
		}
	}
	clean, report, err := envelopescrub.Scrub(inputs[0].data)
	if err != nil {
		return err
	}
	for _, rule := range slices.Sorted(maps.Keys(report.Values)) {
		fmt.Fprintf(env.err, "removed: %s by the rule %s\n", count(report.Values[rule], "value"), printable(rule))
	}
	if report.Kept > 0 {
		fmt.Fprintf(env.err, "kept: %s of binary traces, which contain names of classes, methods and threads\n", bytesText(report.Kept))
	}
	fmt.Fprintln(env.err, "read the result before you publish it: names of functions, files and transactions remain")
	if out != "-" {
		return os.WriteFile(out, clean, 0o600)
	}
	_, err = env.document().Write(clean)
	return err
}
