// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

var convertCommand = command{
	name:      "convert",
	arguments: "FILE...",
	summary:   "Convert profiles between the formats of Sentry, OTLP, pprof, speedscope, collapsed stacks and Firefox Profiler; can also read .cpuprofile",
	examples: []string{
		"envelope convert --to speedscope testdata/cases/sdk-python-v2/in.envelope > $OUT/shop.speedscope.json",
		"envelope convert --to firefox --out $OUT/shop.json testdata/cases/sdk-python-v2/in.envelope",
		"envelope convert --to otlp-proto --dialect 1.9 testdata/cases/sdk-node-v2-11/in.envelope > $OUT/shop.pb",
		"envelope convert --to pprof testdata/cases/sdk-go-v1/in.envelope | envelope convert --to collapsed -",
	},
	prepare: func(flags *flag.FlagSet) func(environment, []string) error {
		c := conversion{}
		flags.StringVar(&c.from, "from", "", "`format` of the input: "+names(profilefile.Readers)+"; default: by content")
		flags.StringVar(&c.to, "to", "", "`format` of the output, required: "+names(writers))
		flags.StringVar(&c.out, "out", "", "`file` to write, or - for the standard output, even if binary data would go to a terminal")
		flags.StringVar(&c.dialect, "dialect", "1.10", "`version` of OTLP to write, for otlp-proto: 1.10, 1.9")
		flags.StringVar(&c.sampleType, "type", "", "`type` of the values to write if a profile has several, e.g. alloc_space")
		return func(env environment, files []string) error { return c.run(env, files) }
	},
}

// conversion is one run of the command convert.
type conversion struct {
	from, to, out, dialect, sampleType string
	environment
}

func names[T any](formats map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(formats)), ", ")
}

// run reads all inputs and writes one output. Losses are listed on stderr.
func (c conversion) run(env environment, files []string) error {
	c.environment = env
	write, known := writers[c.to]
	if !known {
		return misuse(fmt.Sprintf("--to is %q, must be one of %s", c.to, names(writers)))
	}
	if _, known := profilefile.Readers[c.from]; c.from != "" && !known {
		return misuse(fmt.Sprintf("--from is %q, must be one of %s", c.from, names(profilefile.Readers)))
	}
	if dialect.Version(c.dialect) != dialect.V1_10 && c.to != profilefile.OTLPProto {
		return misuse(fmt.Sprintf("--dialect is %q, which can be written as %s only", c.dialect, profilefile.OTLPProto))
	}
	if c.out == "" && env.terminal && slices.Contains(binaryFormats, c.to) {
		return misuse(c.to + " is binary: redirect the output, or set --out")
	}
	inputs, err := env.readParts(files)
	if err != nil {
		return err
	}
	var messages []pprofile.Profiles
	for _, in := range inputs {
		done := env.step("converting "+in.name, len(in.data))
		read, err := c.read(in)
		done()
		if err != nil {
			return fmt.Errorf("cannot convert %s: %w", in.name, err)
		}
		messages = append(messages, read...)
	}
	if len(messages) == 0 {
		return errors.New("the input has no usable profile")
	}
	if c.sampleType != "" {
		types := typesIn(messages)
		if messages = selectType(messages, c.sampleType); len(messages) == 0 {
			return misuse(fmt.Sprintf("--type is %q, must be one of %s", c.sampleType, names(types)))
		}
	}
	var out bytes.Buffer
	done := env.step("writing "+c.to, total(inputs))
	err = write(&c, &out, messages)
	done()
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", c.to, err)
	}
	return c.save(out.Bytes())
}

// save writes the output only if all of it is complete.
func (c conversion) save(data []byte) error {
	if c.out == "" || c.out == "-" {
		to := c.environment.document()
		if slices.Contains(binaryFormats, c.to) {
			to = c.environment.out
		}
		_, err := to.Write(data)
		return err
	}
	return os.WriteFile(c.out, data, 0o600)
}

func (c conversion) read(in input) ([]pprofile.Profiles, error) {
	_, content, err := profilefile.Read(in.file(), c.from, importer.Options{Start: time.Now()})
	c.report(content.Losses)
	if c.from == "" && profilefile.IsUnknown(err) {
		err = fmt.Errorf("%w; if you know its format, set --from", err)
	}
	if err != nil {
		return nil, err
	}
	c.lost(len(content.Traces), plural("message", len(content.Traces))+" with spans: only profiles are converted")
	c.lost(len(content.Logs), plural("message", len(content.Logs))+" with log records: only profiles are converted")
	c.lost(len(content.Metrics), plural("message", len(content.Metrics))+" with metrics: only profiles are converted")
	return content.Profiles, nil
}

// report lists losses.
func (c conversion) report(losses []importer.Loss) {
	for _, l := range losses {
		fmt.Fprintf(c.err, "lost: %d %s\n", l.Count, printable(l.What))
	}
}

// lost reports one loss.
func (c conversion) lost(n int, what string) {
	if n > 0 {
		c.report([]importer.Loss{{What: what, Count: n}})
	}
}

// selectType removes profiles of other types. A profile also has the type that its weights measure:
// CPU samples measure CPU time.
func selectType(messages []pprofile.Profiles, name string) (selected []pprofile.Profiles) {
	for _, message := range messages {
		eachScope(message, func(scope pprofile.ScopeProfiles) {
			scope.Profiles().RemoveIf(func(p pprofile.Profile) bool {
				t := typeOf(message, p)
				return t.Name != name && t.Measure(p.Period()).Name != name
			})
		})
		if len(profilesOf(message)) > 0 {
			selected = append(selected, message)
		}
	}
	return selected
}

// typesIn returns the types that the weights of all profiles measure.
func typesIn(messages []pprofile.Profiles) map[string]bool {
	types := map[string]bool{}
	for _, message := range messages {
		for _, p := range profilesOf(message) {
			types[typeOf(message, p).Measure(p.Period()).Name] = true
		}
	}
	return types
}

func typeOf(message pprofile.Profiles, p pprofile.Profile) sampletype.Type {
	t, _ := sampletype.Of(dictionary.NewView(message.Dictionary()), p) // without the names that do not exist
	return t
}
