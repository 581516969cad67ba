// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/collapsed"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/firefox"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprof"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/speedscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// writeMany writes messages into one file.
type writeMany func(c *conversion, to io.Writer, messages []pprofile.Profiles) error

// binaryFormats are not written to terminals.
var binaryFormats = []string{profilefile.OTLPProto, profilefile.Pprof}

var writers = map[string]writeMany{
	profilefile.Sentry:     writeSentry,
	profilefile.OTLPJSON:   writeOTLPJSON,
	profilefile.OTLPProto:  writeOTLPProto,
	profilefile.Pprof:      export(func(w io.Writer, _ string) fileWriter { return pprof.NewWriter(w) }, "times of samples"),
	profilefile.Speedscope: export(func(w io.Writer, title string) fileWriter { return speedscope.NewWriter(w, title) }, "links to spans, attributes"),
	profilefile.Collapsed:  export(func(w io.Writer, _ string) fileWriter { return collapsed.NewWriter(w) }, "files, lines, threads, times, links to spans, attributes"),
	profilefile.Firefox:    export(func(w io.Writer, title string) fileWriter { return firefox.NewWriter(w, title) }, "links to spans, attributes"),
}

// fileWriter writes the format of another tool.
type fileWriter interface {
	Add(*timeline.Profile, timeline.Filter) error
	Close() error
}

// export writes the profiles whose values have the type of the first one.
func export(create func(w io.Writer, title string) fileWriter, lost string) writeMany {
	return func(c *conversion, to io.Writer, messages []pprofile.Profiles) error {
		out := create(to, titleOf(messages))
		var measure *timeline.Measure
		others := map[string]int{}
		stacks, stackless := 0, 0
		for _, message := range messages {
			reader := timeline.NewReader(message.Dictionary())
			for _, p := range profilesOf(message) {
				read := reader.Read(p)
				c.lost(read.Broken, "references to entries that do not exist")
				if measure == nil {
					measure = &read.Measure
				}
				if read.Measure != *measure {
					others[read.Measure.Type]++
					continue
				}
				if err := out.Add(read, timeline.Filter{}); err != nil {
					return err
				}
				for _, s := range read.Selected(timeline.Filter{}) {
					if s.Stack == 0 {
						stackless++
					} else {
						stacks++
					}
				}
			}
		}
		for name, n := range others {
			hint := ", see --type"
			if name == "" {
				hint = ""
			}
			c.lost(n, "profiles of "+cmp.Or(name, "values without a type")+hint)
		}
		if c.to == profilefile.Collapsed {
			c.lost(stackless, "samples without a stack, such as idle time")
		}
		if stacks == 0 {
			return fmt.Errorf("the profile has no samples with a stack, but %d without", stackless)
		}
		fmt.Fprintf(c.err, "lost, if present: %s\n", lost)
		return out.Close()
	}
}

// writeOTLPJSON writes a line for each message.
func writeOTLPJSON(_ *conversion, to io.Writer, messages []pprofile.Profiles) error {
	for _, message := range messages {
		line, err := new(pprofile.JSONMarshaler).MarshalProfiles(message)
		if err != nil {
			return err
		}
		if _, err := to.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// writeOTLPProto writes a request. It holds only one message, because each message has its own
// dictionary.
func writeOTLPProto(c *conversion, to io.Writer, messages []pprofile.Profiles) error {
	if len(messages) > 1 {
		return fmt.Errorf("a request holds one message, not %d: write %s", len(messages), profilefile.OTLPJSON)
	}
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(messages[0])
	if err != nil {
		return err
	}
	switch version := dialect.Version(c.dialect); version {
	case dialect.V1_10:
	case dialect.V1_9:
		if encoded, err = dialect.Encode(encoded, version, false); err != nil {
			return err
		}
	default:
		return misuse(fmt.Sprintf("--dialect is %q, must be %s or %s", c.dialect, dialect.V1_10, dialect.V1_9))
	}
	_, err = to.Write(encoded)
	return err
}

// writeSentry writes an envelope with the chunks, as the exporter splits them.
func writeSentry(c *conversion, to io.Writer, messages []pprofile.Profiles) error {
	envelope := sentry.Envelope{Header: sentry.EnvelopeHeader{SDK: sentry.SDK(program)}}
	for _, message := range messages {
		export := tosentry.ProfilesToChunks(message, tosentry.ExportOptions{SDK: program})
		for _, l := range export.Lost {
			c.lost(l.Count, "observations: "+string(l.Reason))
		}
		for _, f := range export.Flaws {
			c.lost(f.Count, "values of "+f.Field)
		}
		for _, item := range export.Items {
			envelope.Items = append(envelope.Items, item.Item)
		}
	}
	if len(envelope.Items) == 0 {
		return fmt.Errorf("the input contains no time-based samples with stacks; Sentry accepts no others")
	}
	encoded, err := sentry.AppendEnvelope(nil, &envelope)
	if err == nil {
		_, err = to.Write(encoded)
	}
	return err
}

// program is the SDK of data without one. Sentry requires a version.
var program = sentry.ClientSDK{Name: "otelcol-sentry.envelope", Version: "0.1.0"}

// defaultTitle is the title of files without a service name.
const defaultTitle = "profile"

// titleOf returns the service of the first resource.
func titleOf(messages []pprofile.Profiles) string {
	for _, message := range messages {
		for _, resource := range message.ResourceProfiles().All() {
			if name, ok := resource.Resource().Attributes().Get(semconv.ServiceName); ok {
				return strings.ToValidUTF8(name.AsString(), "\uFFFD")
			}
		}
	}
	return defaultTitle
}
