// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/replay"
)

var sendCommand = command{
	name:      "send",
	arguments: "FILE...",
	summary:   "Send payloads to a DSN or to an OTLP endpoint, with new IDs and times shifted to the present",
	examples: []string{
		"envelope send --dsn $DSN testdata/cases/sdk-python-v1/in.envelope",
		"envelope send --otlp $OTLP testdata/cases/sdk-python-v1/in.envelope testdata/otlp/profiles.json",
		"envelope send --dsn $DSN --as-is testdata/cases/sdk-python-v1/in.envelope",
	},
	prepare: func(flags *flag.FlagSet) func(environment, []string) error {
		s := sending{}
		flags.StringVar(&s.dsn, "dsn", "", "`DSN` to send envelopes to; other files are converted to Sentry profiles")
		flags.StringVar(&s.otlp, "otlp", "", "`URL` of an OTLP/HTTP endpoint to send messages to, e.g. http://localhost:4318")
		flags.BoolVar(&s.asIs, "as-is", false, "keep IDs and times")
		flags.IntVar(&s.rounds, "rounds", 1, "`number` of times to send everything, each time with new IDs")
		return func(env environment, files []string) error { return s.run(env, files) }
	},
}

// sending is one run of the command send.
type sending struct {
	dsn, otlp string
	asIs      bool
	rounds    int

	to                           sentry.DSN
	requests, failures, profiles int
	conversion
}

// payload is an envelope, or an OTLP message as JSON.
type payload struct {
	name   string
	format string
	body   []byte
}

// run sends all inputs, and prints the response to each. It fails if one of them is rejected.
func (s sending) run(env environment, files []string) (err error) {
	s.conversion = conversion{environment: env}
	if (s.dsn == "") == (s.otlp == "") {
		return misuse("name either --dsn or --otlp")
	}
	if s.rounds < 1 {
		return misuse(fmt.Sprintf("--rounds is %d, must be at least 1", s.rounds))
	}
	if s.dsn != "" {
		if s.to, err = sentry.ParseDSN(s.dsn); err != nil {
			return misuse("--dsn is not a DSN: " + err.Error())
		}
	}
	if s.otlp != "" && !strings.HasPrefix(s.otlp, "http://") && !strings.HasPrefix(s.otlp, "https://") {
		return misuse(fmt.Sprintf("--otlp is %q, must be a URL such as http://localhost:4318", s.otlp))
	}
	inputs, err := env.read(files)
	if err != nil {
		return err
	}
	payloads, err := s.payloads(inputs)
	if err != nil {
		return err
	}
	for range s.rounds {
		for i, body := range s.freshen(payloads) {
			if err := s.send(payload{payloads[i].name, payloads[i].format, body}); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(env.out, "\n%s accepted %s with %s", cmp.Or(s.otlp, s.to.Host), count(s.requests-s.failures, "request"), count(s.profiles, "profile"))
	if s.failures > 0 {
		fmt.Fprintf(env.out, " and rejected %s\n", count(s.failures, "request"))
		return errFindings
	}
	fmt.Fprintln(env.out)
	return nil
}

// payloads returns envelopes unchanged, and all other inputs as OTLP messages.
func (s *sending) payloads(inputs []input) (all []payload, err error) {
	for _, in := range inputs {
		format, err := profilefile.Recognize(in.data)
		if err != nil {
			return nil, fmt.Errorf("cannot send %s: %w", in.name, err)
		}
		if format == profilefile.Sentry {
			body, err := envelopeOf(in.data)
			if err != nil {
				return nil, fmt.Errorf("cannot send %s: %w", in.name, err)
			}
			all = append(all, payload{in.name, format, body})
			continue
		}
		_, content, err := profilefile.Read(in.file(), format, importer.Options{Start: time.Now()})
		s.report(content.Losses)
		if err != nil {
			return nil, fmt.Errorf("cannot send %s: %w", in.name, err)
		}
		lines, err := linesOf(content)
		if err != nil {
			return nil, fmt.Errorf("cannot send %s: %w", in.name, err)
		}
		for _, line := range lines {
			all = append(all, payload{in.name, profilefile.OTLPJSON, line})
		}
	}
	return all, nil
}

// envelopeOf returns an envelope. Older SDKs send events without one.
func envelopeOf(data []byte) ([]byte, error) {
	envelope, err := profilefile.ReadEnvelope(data)
	if err != nil {
		return nil, err
	}
	if _, err := sentry.ReadEnvelope(data); err == nil {
		return data, nil
	}
	return sentry.AppendEnvelope(nil, envelope)
}

// linesOf returns the messages of a file as OTLP JSON.
func linesOf(content profilefile.Content) (lines [][]byte, err error) {
	add := func(line []byte, failed error) {
		lines, err = append(lines, line), cmp.Or(err, failed)
	}
	for _, m := range content.Profiles {
		add(new(pprofile.JSONMarshaler).MarshalProfiles(m))
	}
	for _, m := range content.Traces {
		add(new(ptrace.JSONMarshaler).MarshalTraces(m))
	}
	for _, m := range content.Logs {
		add(new(plog.JSONMarshaler).MarshalLogs(m))
	}
	for _, m := range content.Metrics {
		add(new(pmetric.JSONMarshaler).MarshalMetrics(m))
	}
	return lines, err
}

// freshen returns the bodies of payloads with new IDs and times.
func (s *sending) freshen(payloads []payload) (bodies [][]byte) {
	for _, p := range payloads {
		bodies = append(bodies, p.body)
	}
	if s.asIs {
		return bodies
	}
	return replay.Freshen(bodies, time.Now())
}

// send sends a payload as an envelope, or as OTLP messages.
func (s *sending) send(p payload) error {
	if s.dsn != "" && p.format == profilefile.Sentry {
		return s.envelope(p.name, p.body)
	}
	content, err := profilefile.Readers[p.format](p.body, importer.Options{Start: time.Now()})
	s.report(content.Losses)
	if err != nil {
		return fmt.Errorf("cannot send %s: %w", p.name, err)
	}
	if s.dsn == "" {
		return s.messages(p.name, content)
	}
	others := len(content.Traces) + len(content.Logs) + len(content.Metrics)
	s.lost(others, plural("message", others)+" with spans, log records or metrics: only profiles become envelopes")
	if len(content.Profiles) == 0 {
		return nil
	}
	var body bytes.Buffer
	if err := writeSentry(&s.conversion, &body, content.Profiles); err != nil {
		return fmt.Errorf("cannot send %s: %w", p.name, err)
	}
	return s.envelope(p.name, body.Bytes())
}

func (s *sending) envelope(name string, body []byte) error {
	envelope, _ := sentry.ReadEnvelope(body) // it was already parsed
	var types []string
	profiles := 0
	for _, item := range envelope.Items {
		types = append(types, string(item.Header.Type))
		switch item.Header.Type {
		case sentry.ItemProfile, sentry.ItemProfileChunk, sentry.ItemProfileChunkUI:
			profiles++
		}
	}
	answer, err := replay.Envelope(s.to, body, program.Name+"/"+program.Version)
	return s.answered(name, strings.Join(types, ", "), profiles, answer, err)
}

// messages sends each message to the path of its signal.
func (s *sending) messages(name string, content profilefile.Content) error {
	for _, m := range content.Profiles {
		encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(m)
		if err := s.message(name, signalProfiles, "/v1development/profiles", encoded, err); err != nil {
			return err
		}
	}
	for _, m := range content.Traces {
		encoded, err := new(ptrace.ProtoMarshaler).MarshalTraces(m)
		if err := s.message(name, "traces", "/v1/traces", encoded, err); err != nil {
			return err
		}
	}
	for _, m := range content.Logs {
		encoded, err := new(plog.ProtoMarshaler).MarshalLogs(m)
		if err := s.message(name, "logs", "/v1/logs", encoded, err); err != nil {
			return err
		}
	}
	for _, m := range content.Metrics {
		encoded, err := new(pmetric.ProtoMarshaler).MarshalMetrics(m)
		if err := s.message(name, "metrics", "/v1/metrics", encoded, err); err != nil {
			return err
		}
	}
	return nil
}

const signalProfiles = "profiles"

func (s *sending) message(name, signal, path string, encoded []byte, err error) error {
	if err != nil {
		return fmt.Errorf("cannot send %s: %w", name, err)
	}
	profiles := 0
	if signal == signalProfiles {
		profiles = 1
	}
	answer, err := replay.OTLP(s.otlp, path, encoded)
	return s.answered(name, signal, profiles, answer, err)
}

// answered counts and prints the response to a request.
func (s *sending) answered(name, content string, profiles int, answer replay.Answer, err error) error {
	if err != nil {
		return err
	}
	s.requests++
	c := green
	if answer.OK() {
		s.profiles += profiles
	} else {
		s.failures++
		c = red
	}
	_, err = fmt.Fprintf(s.environment.out, "%s  %s  %s\n", printable(name), printable(content), s.paint(c, printable(answer.String())))
	return err
}
