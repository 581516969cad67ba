// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestCasesRoundTrip converts the profiles of all cases to every format and back.
func TestCasesRoundTrip(t *testing.T) {
	converted := 0
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil {
			converted += roundTrips(t, c.Name, c.Envelope)
		}
	}
	assert.Greater(t, converted, 90)
}

// largestConverted is the maximum size of a recording: larger ones have the same shapes, and take
// minutes in all formats.
const largestConverted = 5 << 20

// TestCorpusRoundTrips does the same with the recorded requests.
func TestCorpusRoundTrips(t *testing.T) {
	converted := 0
	for _, request := range golden.Corpus(t) {
		if body := request.Decoded(t); len(body) <= largestConverted && (testsize.Full() || len(body) <= golden.SmallPayload) {
			converted += roundTrips(t, request.Name, body)
		}
	}
	t.Logf("%d profiles", converted)
	assert.Greater(t, converted, 100)
}

func roundTrips(t *testing.T, name string, body []byte) (converted int) {
	content, err := profilefile.Readers[profilefile.Sentry](body, testOptions)
	if err != nil {
		return 0
	}
	for _, message := range content.Profiles {
		exact(t, name, message)
		for _, format := range []string{profilefile.Speedscope, profilefile.Firefox, profilefile.Collapsed, profilefile.Pprof} {
			stable(t, name+" as "+format, format, message)
		}
		sentAgain(t, name, message)
		converted++
	}
	return converted
}

// TestPairs converts the recorded profiles from every format to every other one: the weight of each
// stack stays the same.
func TestPairs(t *testing.T) {
	converted := 0
	for _, request := range golden.Corpus(t) {
		body := request.Decoded(t)
		if len(body) > golden.SmallPayload {
			continue // see largestConverted
		}
		content, err := profilefile.Readers[profilefile.Sentry](body, testOptions)
		if err != nil {
			continue // without profiles
		}
		for _, message := range content.Profiles {
			pairs(t, request.Name, message)
			converted++
		}
	}
	t.Logf("%d profiles", converted)
	assert.Greater(t, converted, 100)
}

func pairs(t *testing.T, name string, message pprofile.Profiles) {
	want := written(t, profilefile.Collapsed, "", message)
	for from := range writers {
		if from == profilefile.Sentry {
			continue // the recording
		}
		once := reread(t, from, message)
		for to := range writers {
			if to != profilefile.Sentry { // see sentAgain
				assert.Equal(t, want, written(t, profilefile.Collapsed, "", reread(t, to, once)), "%s from %s to %s", name, from, to)
			}
		}
	}
}

// reread writes a message in a format, and reads it again.
func reread(t *testing.T, format string, message pprofile.Profiles) pprofile.Profiles {
	marshaled := pprofile.NewProfiles() // the encoders of pdata change what they encode
	message.CopyTo(marshaled)
	content, err := profilefile.Readers[format]([]byte(written(t, format, "1.10", marshaled)), testOptions)
	require.NoError(t, err, format)
	require.Len(t, content.Profiles, 1)
	return content.Profiles[0]
}

// exact: OTLP is the same message in both encodings and dialects.
func exact(t *testing.T, name string, message pprofile.Profiles) {
	for format, version := range map[string]string{profilefile.OTLPJSON: "1.10", profilefile.OTLPProto: "1.10", profilefile.OTLPProto + " ": "1.9"} {
		format = strings.TrimSpace(format)
		marshaled := pprofile.NewProfiles() // the encoders of pdata change what they encode
		message.CopyTo(marshaled)
		again, err := profilefile.Readers[format]([]byte(written(t, format, version, marshaled)), testOptions)
		require.NoError(t, err, name)
		assert.Empty(t, again.Losses)
		assert.Empty(t, dictionary.Diff(message, again.Profiles[0]), "%s as %s %s", name, format, version)
	}
}

// stable: a file that is read and written again is the same file, but for observations without a
// stack in formats without threads.
func stable(t *testing.T, name, format string, message pprofile.Profiles) {
	if p := dictionarytest.FirstProfile(message); p.DurationNano() > 1<<53 || p.Time() == 0 {
		return // numbers of JSON have 53 bits, and time 0 is unknown
	}
	first := []byte(written(t, format, "", message))
	again, err := profilefile.Readers[format](first, testOptions)
	if err == importer.ErrEmpty { // only idle threads
		return
	}
	require.NoError(t, err, name)
	dictionarytest.MustBeValid(t, again.Profiles[0])
	second := []byte(written(t, format, "", again.Profiles...))
	if format == profilefile.Pprof { // comments and numbers of observations are lost
		assert.Equal(t, pprofWeights(t, first), pprofWeights(t, second), name)
		return
	}
	assert.Equal(t, string(first), string(second), name)
}

// pprofWeights returns the weights by stack, as collapsed stacks.
func pprofWeights(t *testing.T, file []byte) string {
	content, err := profilefile.Readers[profilefile.Pprof](file, testOptions)
	require.NoError(t, err)
	return written(t, profilefile.Collapsed, "", content.Profiles...)
}

// sentAgain: chunks that Sentry accepts have all observations, or the losses are listed.
func sentAgain(t *testing.T, name string, message pprofile.Profiles) {
	var envelope, losses bytes.Buffer
	c := quiet()
	c.err = &losses
	if err := writers[profilefile.Sentry](c, &envelope, []pprofile.Profiles{message}); err != nil {
		assert.NotEmpty(t, losses.String(), "%s: %s", name, err)
		return
	}
	again, err := profilefile.Readers[profilefile.Sentry](envelope.Bytes(), testOptions)
	require.NoError(t, err, name)
	observations := int64(0)
	for _, m := range again.Profiles {
		observations += spanlink.Observations(m)
	}
	if losses.Len() == 0 {
		assert.GreaterOrEqual(t, observations, spanlink.Observations(message), "%s: chunks may repeat an observation at their end", name)
	}
}

// TestConvert recognizes every format that it writes.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	const in = "testdata/cases/sdk-python-v2/in.envelope"
	for _, format := range slices.Sorted(func(yield func(string) bool) {
		for f := range writers {
			if !yield(f) {
				return
			}
		}
	}) {
		file := filepath.Join(dir, format)
		_, errors, exit := call(t, "", "convert", "--to", format, "--out", file, in)
		require.Equal(t, exitOK, exit, errors)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		plain := (environment{}).unpacked(t, data)
		assert.Equal(t, format, profilefile.Recognize(plain))
		_, errors, exit = call(t, "", "convert", "--to", profilefile.Collapsed, file)
		assert.Equal(t, exitOK, exit, errors)
	}
}

func (e environment) unpacked(t *testing.T, data []byte) []byte {
	plain, err := e.readAll("", bytes.NewReader(data), 0)
	require.NoError(t, err)
	return plain
}

func TestConvertReportsLosses(t *testing.T) {
	_, errors, _ := call(t, "", "convert", "--to", "collapsed", "testdata/cases/hostile-bad-between-good/in.envelope")
	assert.Contains(t, errors, "lost: 1 profile_chunk that is unusable: profiling_invalid_json")
	assert.Contains(t, errors, "lost, if present: files, lines, threads, times, links to spans, attributes")

	_, errors, _ = call(t, "", "convert", "--to", "collapsed", "testdata/cases/cocoa-v1-native/in.envelope")
	assert.Contains(t, errors, "lost: 1 message with metrics: only profiles are converted\n")

	_, errors, exit := call(t, "", "convert", "--to", "otlp-proto", "testdata/cases/hostile-bad-between-good/in.envelope")
	assert.Equal(t, exitFailed, exit)
	assert.Contains(t, errors, "a request holds one message, not 2")

	_, _, exit = call(t, "", "convert", "--to", "gif", "-")
	assert.Equal(t, exitMisused, exit)
	_, errors, exit = call(t, `{"type":"log"}`, "convert", "--to", "pprof", "-")
	assert.Equal(t, exitFailed, exit)
	assert.Contains(t, errors, "no usable profile")
}

// TestConvertSelectsType: a file of pprof with several types becomes one of them.
func TestConvertSelectsType(t *testing.T) {
	assert.Empty(t, selectType(received(t, recording(t)), "alloc_space"))
	assert.Len(t, selectType(received(t, recording(t)), "samples"), 1)
}
