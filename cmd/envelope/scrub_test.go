// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/cmd/envelope/internal/envelopescrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/planted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

func scrubbed(t *testing.T, body []byte) []byte {
	clean, _, err := envelopescrub.Scrub(body)
	require.NoError(t, err)
	return clean
}

// TestScrubKeepsCases: the results of a scrubbed envelope are those of the original.
func TestScrubKeepsCases(t *testing.T) {
	t.Parallel()
	eachCase(t, func(t *testing.T, c golden.Case) { sameResults(t, c.Name, c.Envelope) })
}

func TestScrubKeepsCorpus(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, request golden.Request) {
		if body := request.Decoded(t); len(body) <= largestConverted {
			sameResults(t, request.Name, body)
		}
	})
}

func sameResults(t *testing.T, name string, body []byte) {
	clean := scrubbed(t, body)
	require.Len(t, clean, len(body), name)
	require.Equal(t, resultsOf(body), resultsOf(clean), name)
	for _, strict := range []bool{false, true} {
		require.Equal(t, findingsIn(body, strict, testNow), findingsIn(clean, strict, testNow), name)
	}
	require.Equal(t, string(clean), string(scrubbed(t, clean)), "%s, scrubbed again", name)
}

// resultsOf describes an envelope by what the receiver makes of it, without names.
func resultsOf(body []byte) (lines []string) {
	envelope, err := profilefile.ReadEnvelope(body)
	lenient, strict := examine(envelope, testNow)
	lines = append(sortedLines(outcome(lenient, err)), sortedLines(outcome(strict, err))...)
	lines = append(lines, fmt.Sprint(envelope.Header.EventID, envelope.Header.SentAt, envelope.Header.SDK))
	for _, item := range lenient.Items {
		lines = append(lines, fmt.Sprint(item.Header.Type, len(item.Payload)))
		for _, d := range item.Deliveries {
			lines = append(lines, sizeOf(d.Message.Data()))
		}
	}
	for _, l := range lenient.Links {
		lines = append(lines, fmt.Sprint("links ", l.Stats))
	}
	return append(lines, fmt.Sprint("unlinked ", len(lenient.Unlinked)))
}

// sizeOf returns the signal of a message, its numbers and its times.
func sizeOf(message any) string {
	switch message := message.(type) {
	case pprofile.Profiles:
		return fmt.Sprint(profileTexts(message))
	case ptrace.Traces:
		text := "spans"
		for _, span := range spansOf(message) {
			text += fmt.Sprint(" ", span.SpanID(), span.ParentSpanID(), span.StartTimestamp(), span.EndTimestamp(), span.Status().Code(), span.Events().Len())
		}
		return text
	case plog.Logs:
		return fmt.Sprint(message.LogRecordCount(), " log records")
	case pmetric.Metrics:
		return fmt.Sprint(message.DataPointCount(), " data points of ", message.MetricCount(), " metrics")
	}
	return ""
}

// TestScrubRemovesPlanted: no secret remains that was planted in the recordings.
func TestScrubRemovesPlanted(t *testing.T) {
	t.Parallel()
	least := 250
	if testsize.Full() {
		least = 1000
	}
	for name, members := range map[string]bool{"members": true, "texts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planted.Planter{Secrets: map[string]string{}, Member: members}
			var lines []string
			for _, c := range golden.SampleCases(t) {
				if body := p.Envelope(c.Envelope); body != nil {
					lines = append(lines, strings.Split(string(scrubbed(t, body)), "\n")...)
				}
			}
			require.Greater(t, len(p.Secrets), least)
			leaks := p.Leaks(lines)
			shown := 0
			for leak, place := range leaks {
				if shown++; shown < 20 {
					t.Errorf("%s: %.200s", place, leak)
				}
			}
			assert.Empty(t, len(leaks))
		})
	}
}

func TestScrub(t *testing.T) {
	body := `{"dsn":"https://8f3d1c0a@o12.ingest.example.com/42","trace":{"public_key":"8f3d1c0a","user_id":"jane"}}` + "\n" +
		`{"type":"event","length":410,"filename":"a"}` + "\n" +
		`{"user":{"id":"42","email":"jane@example.com","n":12.5},"server_name":"laptop","extra":{"password":["hush",1],"path":"/home/jane/a.py"},` +
		`"message":"mail to jane@example.com","exception":{"values":[{"stacktrace":{"frames":[{"filename":"C:\\Users\\jane\\a.py","context_line":"x = 1","vars":{"a":"b"}}]}}]},` +
		`"event_id":"4111111111111111"}` + "\n"
	want := `{"dsn":"https://00000000@xxx.xxxxxx.xxxxxxx.xxx/42","trace":{"public_key":"00000000","user_id":"****"}}` + "\n" +
		`{"type":"event","length":410,"filename":"a"}` + "\n" +
		`{"user":{"id":"**","email":"****************","n":10.0},"server_name":"******","extra":{"password":["****",1],"path":"/home/****/a.py"},` +
		`"message":"mail to [email]         ","exception":{"values":[{"stacktrace":{"frames":[{"filename":"C:\\Users\\****\\a.py","context_line":"*****","vars":{"a":"*"}}]}}]},` +
		`"event_id":"4111111111111111"}` + "\n"
	out, errors, exit := call(t, body, "scrub", "-")
	assert.Equal(t, want, out)
	assert.Contains(t, errors, "removed: ")
	assert.Equal(t, exitOK, exit)

	file := filepath.Join(t.TempDir(), "out")
	_, _, exit = call(t, body, "scrub", "--out", file, "-")
	assert.Equal(t, exitOK, exit)
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, want, string(written))
	_, _, exit = call(t, "", "scrub", file, file)
	assert.Equal(t, exitMisused, exit)
}
