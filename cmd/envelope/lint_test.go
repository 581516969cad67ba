// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"
)

// TestLintRules: the case of each rule has a finding of that rule, with its source.
func TestLintRules(t *testing.T) {
	cases := golden.Cases(t)
	for _, rule := range profile.Rules {
		i := slices.IndexFunc(cases, func(c golden.Case) bool { return c.Name == rule.Case })
		require.GreaterOrEqual(t, i, 0, rule.Case)
		assert.NotEmpty(t, sources[rule.Name], rule.Name)
		envelope := cases[i].Envelope
		if envelope == nil {
			continue // too large for a file
		}
		for _, strict := range []bool{false, true} {
			findings := findingsIn(envelope, strict, time.Now())
			n := slices.IndexFunc(findings, func(f finding) bool { return f.Rule == rule.Name })
			if assert.GreaterOrEqual(t, n, 0, rule.Name) {
				assert.Equal(t, strict, findings[n].Level == levelError, rule.Name)
			}
		}
	}
}

func TestLintText(t *testing.T) {
	const file = "testdata/cases/rule-duration/in.envelope"
	isFinding := func(out, level string) {
		assert.Equal(t, 1, strings.Count(out, "\n"), out)
		assert.Contains(t, out, file+": item 1 (profile_chunk): "+level+" duration: ")
		for _, fact := range []string{"profiling_duration_is_too_long", "kept", " [relay-profiling/src/outcomes.rs]\n"} {
			assert.Contains(t, out, fact)
		}
	}
	out, errors, exit := call(t, "", "lint", file)
	isFinding(out, "warning")
	assert.Empty(t, errors)
	assert.Equal(t, exitOK, exit)

	out, _, exit = call(t, "", "lint", "--strict", file)
	isFinding(out, "error")
	assert.Equal(t, exitFailed, exit)

	out, _, exit = call(t, "{}\n{\"type\":\"profil\"}\n{}\n", "lint", "-")
	assert.Equal(t, 1, strings.Count(out, "\n"), out)
	assert.Contains(t, out, "-: item 1 (profil): warning item_type: ")
	assert.Contains(t, out, " ["+fromItems+"]\n")
	assert.Equal(t, exitOK, exit)

	_, _, exit = call(t, "", "lint", "--format", "xml", file)
	assert.Equal(t, exitMisused, exit)
}

func TestLintFormats(t *testing.T) {
	const file = "testdata/cases/hostile-bad-between-good/in.envelope"
	out, _, exit := call(t, "", "lint", "--format", "json", file)
	var findings []finding
	require.NoError(t, json.Unmarshal([]byte(out), &findings))
	require.Len(t, findings, 2)
	assert.Contains(t, findings[0].Message, "at byte 0 of 8")
	findings[0].Message = ""
	assert.Equal(t, finding{File: file, Level: levelError, Rule: "profiling_invalid_json", Item: 2, Type: "profile_chunk", Subject: ofItem,
		Reason: "profiling_invalid_json", Count: 1, Source: fromProfiles}, findings[0])
	assert.Equal(t, exitFailed, exit)

	out, _, _ = call(t, "", "lint", "--format", "json", "testdata/cases/sdk-python-v1/in.envelope")
	assert.Equal(t, "[]\n", out)

	out, _, _ = call(t, "", "lint", "--format", "sarif", file, file)
	var log sarifLog
	require.NoError(t, json.Unmarshal([]byte(out), &log))
	require.Len(t, log.Runs, 1)
	rules, results := log.Runs[0].Tool.Driver.Rules, log.Runs[0].Results
	assert.Len(t, rules, 2)
	assert.Len(t, results, 4)
	for _, r := range results {
		assert.Equal(t, r.RuleID, rules[r.RuleIndex].ID)
		assert.Equal(t, file, r.Locations[0].Physical.Artifact.URI)
	}
}

// TestLintUnmappedFields: all reports name the fields without an equivalent. Their names are text
// of the sender.
func TestLintUnmappedFields(t *testing.T) {
	const file = "testdata/cases/event-every-field/in.envelope"
	for _, command := range [][]string{{"explain"}, {"lint", "--strict"}, {"lint", "--strict", "--format", "json"}, {"lint", "--strict", "--format", "sarif"}} {
		out, _, exit := call(t, "", append(command, file)...)
		assert.Contains(t, out, "unmapped_field", command)
		assert.Contains(t, out, ": request.custom, unknown_top", command)
		assert.Equal(t, exitOK, exit)
	}

	hostile := item("event", `{"message":"m","\u001b[31mred\u202e`+strings.Repeat("x", 100)+`\n":1}`)
	for _, command := range []string{"lint", "explain"} {
		out, _, _ := call(t, hostile, command, "-")
		assert.Contains(t, out, "\uFFFD[31mred\uFFFDxxx")
		assert.NotContains(t, out, strings.Repeat("x", 64))
		assert.NotContains(t, out, "\x1b")
	}
}

// lintedReceiver is a receiver whose counters are the oracle of lint.
type lintedReceiver struct {
	url     string
	metrics *componenttest.Telemetry
	seen    map[string]int64
}

const lintKey = "8f3d1c0a9b7e4d52a1c6f0e3b2d49871"

func startReceiver(t *testing.T, validation profile.Validation) *lintedReceiver {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())

	factory := sentryreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"endpoint": address, "validation": string(validation)}).Unmarshal(cfg))
	metrics := componenttest.NewTelemetry(componenttest.WithMetricOptions(sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)))
	set := receivertest.NewNopSettings(factory.Type())
	set.TelemetrySettings = metrics.NewTelemetrySettings()
	sink := consumertest.NewNop()
	profiles, err := factory.(xreceiver.Factory).CreateProfiles(t.Context(), set, cfg, sink)
	require.NoError(t, err)
	traces, err := factory.CreateTraces(t.Context(), set, cfg, sink)
	require.NoError(t, err)
	logs, err := factory.CreateLogs(t.Context(), set, cfg, sink)
	require.NoError(t, err)
	counts, err := factory.CreateMetrics(t.Context(), set, cfg, sink)
	require.NoError(t, err)
	for _, r := range []component.Component{profiles, traces, logs, counts} {
		require.NoError(t, r.Start(t.Context(), componenttest.NewNopHost()))
		t.Cleanup(func() { require.NoError(t, r.Shutdown(context.Background())) })
	}
	t.Cleanup(func() { require.NoError(t, metrics.Shutdown(context.Background())) })
	return &lintedReceiver{url: "http://" + address + "/api/1/envelope/", metrics: metrics, seen: map[string]int64{}}
}

// verdict sends an envelope and returns the losses that the receiver counted.
func (r *lintedReceiver) verdict(t *testing.T, body []byte) map[string]int64 {
	request, err := http.NewRequest(http.MethodPost, r.url, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Sentry-Auth", sentry.Auth{PublicKey: lintKey, Version: "7"}.Header())
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body) // so that the connection is used again
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	var collected metricdata.ResourceMetrics
	require.NoError(t, r.metrics.Reader.Collect(t.Context(), &collected))
	now := map[string]int64{}
	for _, scope := range collected.ScopeMetrics {
		for _, metric := range scope.Metrics {
			sum, ok := metric.Data.(metricdata.Sum[int64])
			if !ok {
				continue
			}
			for _, point := range sum.DataPoints {
				if key := lossKey(strings.TrimPrefix(metric.Name, "otelcol_receiver_sentry_"), point.Attributes); key != "" {
					now[key] += point.Value
				}
			}
		}
	}
	losses := map[string]int64{}
	for key, n := range now {
		if n > r.seen[key] {
			losses[key] = n - r.seen[key]
		}
	}
	r.seen = now
	for key := range losses {
		if strings.HasPrefix(key, "rejected ") {
			assert.Equal(t, http.StatusBadRequest, response.StatusCode)
			return map[string]int64{key: 1} // the items of the rejected envelope are counted too
		}
	}
	assert.Equal(t, http.StatusOK, response.StatusCode)
	return losses
}

func lossKey(metric string, set attribute.Set) string {
	value := func(key attribute.Key) string { v, _ := set.Value(key); return v.AsString() }
	switch metric {
	case "requests_rejected":
		return "rejected " + value("reason")
	case "items":
		if value("outcome") == "discarded" {
			return "item " + value("type") + " " + value("reason")
		}
	case "samples_discarded":
		return "samples " + value("reason")
	case "elements_discarded":
		return "elements " + value("type") + " " + value("reason")
	case "fields_discarded":
		return "field " + value("type") + " " + value("field")
	case "profiles_tolerated":
		return "rule " + value("rule")
	}
	return ""
}

// predicted returns the losses of the receiver according to findings.
func predicted(findings []finding, strict bool) map[string]int64 {
	losses := map[string]int64{}
	discarded := 0 // the item of the last rule; only the first broken one discards a profile
	for _, f := range findings {
		itemType := sentry.ItemType(f.Type).Label()
		switch {
		case f.Subject == ofEnvelope && f.Level == levelError:
			losses["rejected "+f.Reason]++
		case f.Subject == ofField:
			losses["field "+itemType+" "+f.Reason] += int64(f.Count)
		case f.Subject == ofProfile && !strict:
			losses["rule "+f.Rule]++
		case f.Level == levelWarning:
		case f.Subject == ofProfile && f.Item == discarded:
		case f.Subject == ofProfile || f.Subject == ofItem:
			discarded = f.Item
			losses["item "+itemType+" "+f.Reason]++
		case f.Subject == ofSamples:
			losses["samples "+f.Reason] += int64(f.Count)
		case f.Subject == ofElements:
			losses["elements "+itemType+" "+f.Reason] += int64(f.Count)
		}
	}
	return losses
}

// TestLintAgreesWithReceiver compares findings with the counters of a receiver, for mutations of
// all cases.
func TestLintAgreesWithReceiver(t *testing.T) {
	t.Parallel()
	var originals [][]byte
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil && len(c.Envelope) < 64<<10 {
			originals = append(originals, bytes.ReplaceAll(c.Envelope, []byte(`"dsn"`), []byte(`"DSN"`))) // authentication is not linted
		}
	}
	require.Greater(t, len(originals), 200)
	n := 4_000
	if !testsize.Full() {
		n = len(originals) // each once
	}
	for _, validation := range []profile.Validation{profile.Lenient, profile.Strict} {
		t.Run(string(validation), func(t *testing.T) {
			t.Parallel()
			lintAgrees(t, validation, originals, n)
		})
	}
}

// lintAgrees compares findings with the counters of a receiver, for n mutations.
func lintAgrees(t *testing.T, validation profile.Validation, originals [][]byte, n int) {
	receiver, strict := startReceiver(t, validation), validation == profile.Strict
	random := rand.New(rand.NewPCG(23, 1)) // the same mutations for each validation
	kinds, dropping := map[string]int{}, 0
	for i := range n {
		body := bytes.Clone(originals[i%len(originals)])
		for range random.IntN(4) {
			body = mutated(random, body, originals)
		}
		findings := findingsIn(body, strict, time.Now())
		want := receiver.verdict(t, body)
		got := predicted(findings, strict)
		if !maps.Equal(want, got) {
			require.Equal(t, want, got, "mutation %d\n%.2000q", i, body)
		}
		for key := range got {
			kind, _, _ := strings.Cut(key, " ")
			kinds[kind]++
		}
		if slices.ContainsFunc(findings, func(f finding) bool { return f.Level == levelError }) {
			dropping++
		}
		for _, f := range findings {
			if f.Source == "" {
				require.Fail(t, "no source", f.Rule)
			}
		}
	}
	t.Logf("%d envelopes, %d verdicts with dropped data: %v", n, dropping, kinds)
	assert.Greater(t, dropping, n/4)
	if !testsize.Full() {
		return
	}
	for _, kind := range []string{"rejected", "item", "samples", "elements", "field"} {
		assert.Positive(t, kinds[kind], kind)
	}
	if !strict {
		assert.Positive(t, kinds["rule"])
	}
}

// replacements are values of other types and out of range.
var replacements = []string{"null", "-1", "0", "1e400", "18446744073709551616", `"x"`, `""`, "[]", "{}", "true", `"\u0000"`, "[[[[]]]]", "1777629600.5"}

// mutated changes one place of an envelope: bytes, a JSON value, or a line.
func mutated(random *rand.Rand, body []byte, others [][]byte) []byte {
	if len(body) == 0 {
		return body
	}
	at := random.IntN(len(body))
	end := min(len(body), at+1+random.IntN(16))
	lines := bytes.SplitAfter(body, []byte("\n"))
	switch random.IntN(7) {
	case 0: // flip
		body[at] ^= 1 << random.IntN(8)
	case 1: // truncate
		return body[:at]
	case 2: // remove
		return slices.Delete(body, at, end)
	case 3: // a line of another envelope
		other := bytes.SplitAfter(others[random.IntN(len(others))], []byte("\n"))
		return bytes.Join(slices.Insert(lines, random.IntN(len(lines)), other[random.IntN(len(other))]), nil)
	case 4: // all items twice
		return append(body, bytes.Join(lines[1:], nil)...)
	default: // replace a value; the length of the item is removed, so that it remains complete
		colon := bytes.IndexByte(body[at:], ':')
		if colon < 0 {
			return body
		}
		from := at + colon + 1
		to := from + max(0, bytes.IndexAny(body[from:], ",}]\n"))
		changed := slices.Concat(body[:from], []byte(replacements[random.IntN(len(replacements))]), body[to:])
		return bytes.ReplaceAll(changed, []byte(`"length":`), []byte(`"lenght":`))
	}
	return body
}
