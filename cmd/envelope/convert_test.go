// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	stderrors "errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
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
)

// TestCasesRoundTrip converts the profiles of all cases to every format and back.
func TestCasesRoundTrip(t *testing.T) {
	t.Parallel()
	var converted atomic.Int64
	eachCase(t, func(t *testing.T, c golden.Case) { converted.Add(roundTrips(t, c.Name, c.Envelope)) })
	least := int64(20)
	if testsize.Full() {
		least = 90
	}
	assert.Greater(t, converted.Load(), least)
}

// largestConverted is the maximum size of a recording: the few larger ones have the same shapes as
// others of their SDKs, and would take half of the time.
const largestConverted = 1 << 20

// TestCorpusRoundTrips does the same with the recorded requests.
func TestCorpusRoundTrips(t *testing.T) {
	t.Parallel()
	var converted atomic.Int64
	eachRequest(t, func(t *testing.T, request golden.Request) {
		if body := request.Decoded(t); len(body) <= largestConverted {
			converted.Add(roundTrips(t, request.Name, body))
		}
	})
	t.Logf("%d profiles", converted.Load())
	assert.Greater(t, converted.Load(), leastConverted())
}

// leastConverted is a number of profiles that the recordings exceed.
func leastConverted() int64 {
	if testsize.Full() {
		return 100
	}
	return 8 // see golden.Sample
}

func roundTrips(t *testing.T, name string, body []byte) (converted int64) {
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

// TestPairs converts each recorded profile from every format to one other: the weight of each stack
// stays the same. In full size, there are enough profiles for all pairs of formats.
func TestPairs(t *testing.T) {
	t.Parallel()
	var converted, turn atomic.Int64
	eachRequest(t, func(t *testing.T, request golden.Request) {
		body := request.Decoded(t)
		if len(body) > golden.SmallPayload {
			return // see largestConverted
		}
		content, err := profilefile.Readers[profilefile.Sentry](body, testOptions)
		if err != nil {
			return // without profiles
		}
		for _, message := range content.Profiles {
			pairs(t, request.Name, int(turn.Add(1)), message)
			converted.Add(1)
		}
	})
	t.Logf("%d profiles", converted.Load())
	assert.Greater(t, converted.Load(), leastConverted())
}

func pairs(t *testing.T, name string, turn int, message pprofile.Profiles) {
	want := written(t, profilefile.Collapsed, "", message)
	formats := slices.DeleteFunc(slices.Sorted(maps.Keys(writers)), func(format string) bool { return format == profilefile.Sentry }) // see sentAgain
	for i, from := range formats {
		to := formats[(i+turn)%len(formats)]
		if got := written(t, profilefile.Collapsed, "", reread(t, to, reread(t, from, message))); got != want {
			assert.Equal(t, want, got, "%s from %s to %s", name, from, to)
		}
	}
}

// reread writes a message in a format, and reads it again.
func reread(t *testing.T, format string, message pprofile.Profiles) pprofile.Profiles {
	content, err := profilefile.Readers[format]([]byte(written(t, format, "1.10", copied(message))), testOptions)
	require.NoError(t, err, format)
	require.Len(t, content.Profiles, 1)
	return content.Profiles[0]
}

// copied returns a copy to encode: the encoders of pdata change what they encode.
func copied(message pprofile.Profiles) pprofile.Profiles {
	clone := pprofile.NewProfiles()
	message.CopyTo(clone)
	return clone
}

// exact: OTLP is the same message in both encodings and dialects.
func exact(t *testing.T, name string, message pprofile.Profiles) {
	original := written(t, profilefile.OTLPProto, "1.10", copied(message))
	for format, version := range map[string]string{profilefile.OTLPJSON: "1.10", profilefile.OTLPProto: "1.10", profilefile.OTLPProto + " ": "1.9"} {
		format = strings.TrimSpace(format)
		again, err := profilefile.Readers[format]([]byte(written(t, format, version, copied(message))), testOptions)
		require.NoError(t, err, name)
		assert.Empty(t, again.Losses)
		// Diff is slow. Where the protocol's own encoding has no loss, equal bytes are equal
		// messages.
		if format+version == profilefile.OTLPProto+"1.10" || written(t, profilefile.OTLPProto, "1.10", copied(again.Profiles[0])) != original {
			assert.Empty(t, dictionarytest.Diff(message, again.Profiles[0]), "%s as %s %s", name, format, version)
		}
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
	if stderrors.Is(err, importer.ErrEmpty) { // only idle threads
		return
	}
	require.NoError(t, err, name)
	dictionarytest.MustBeValid(t, again.Profiles[0])
	second := []byte(written(t, format, "", again.Profiles...))
	if format == profilefile.Pprof { // comments and numbers of observations are lost
		assert.Equal(t, pprofWeights(t, first), pprofWeights(t, second), name)
		return
	}
	assert.Equal(t, unopened(first), unopened(second), name)
}

// opened is the profile that speedscope opens first. It depends on which functions wait, which are
// known by the kind of frames and modules: the format has none.
var opened = regexp.MustCompile(`"activeProfileIndex":\d+`)

func unopened(file []byte) string { return string(opened.ReplaceAll(file, nil)) }

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
	for _, format := range slices.Sorted(maps.Keys(writers)) {
		file := filepath.Join(dir, format)
		_, errors, exit := call(t, "", "convert", "--to", format, "--out", file, in)
		require.Equal(t, exitOK, exit, errors)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		recognized, err := profilefile.Recognize((environment{}).unpacked(t, data))
		require.NoError(t, err)
		assert.Equal(t, format, recognized)
		_, errors, exit = call(t, "", "convert", "--to", profilefile.Collapsed, file)
		assert.Equal(t, exitOK, exit, errors)
	}
}

func (e environment) unpacked(t *testing.T, data []byte) []byte {
	file, err := e.readAll("", bytes.NewReader(data), 0)
	require.NoError(t, err)
	return file.Data
}

func TestConvertReportsLosses(t *testing.T) {
	_, errors, _ := call(t, "", "convert", "--to", "collapsed", "testdata/cases/hostile-bad-between-good/in.envelope")
	assert.Contains(t, errors, "profiling_invalid_json")
	assert.Contains(t, errors, "attributes", "what collapsed stacks cannot have")

	_, errors, _ = call(t, "", "convert", "--to", "collapsed", "testdata/cases/cocoa-v1-native/in.envelope")
	assert.Contains(t, errors, "1 message with metrics")

	_, errors, exit := call(t, "", "convert", "--to", "otlp-proto", "testdata/cases/hostile-bad-between-good/in.envelope")
	assert.Equal(t, exitFailed, exit)
	assert.Contains(t, errors, "one message, not 2")

	_, _, exit = call(t, "", "convert", "--to", "gif", "-")
	assert.Equal(t, exitMisused, exit)
	_, errors, exit = call(t, `{"type":"log"}`, "convert", "--to", "pprof", "-")
	assert.Equal(t, exitFailed, exit)
	assert.Contains(t, errors, `["type"]`)
}

// TestConvertSelectsType: a file of pprof with several types becomes one of them.
func TestConvertSelectsType(t *testing.T) {
	assert.Empty(t, selectType(received(t, recording(t)), "alloc_space"))
	assert.Len(t, selectType(received(t, recording(t)), "samples"), 1)
}
