// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// backend records requests, and accepts them unless it has another answer.
type backend struct {
	*httptest.Server
	paths  []string
	bodies [][]byte
	answer func(http.ResponseWriter)
}

func startBackend(t *testing.T) *backend {
	b := &backend{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.paths, b.bodies = append(b.paths, r.URL.Path), append(b.bodies, body)
		if strings.HasSuffix(r.URL.Path, "/envelope/") {
			authenticate(t, r, body)
		}
		if b.answer != nil {
			b.answer(w)
		}
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *backend) dsn() string { return strings.Replace(b.URL, "://", "://abc@", 1) + "/42" }

// authenticate is as strict as Sentry: the DSN in the envelope must be that of the request.
func authenticate(t *testing.T, r *http.Request, body []byte) {
	envelope, err := sentry.ReadEnvelope(body)
	assert.NoError(t, err)
	auth, err := sentry.Authenticate(sentry.Credentials{
		SentryAuth: r.Header.Get("X-Sentry-Auth"), ProjectID: "42", EnvelopeDSN: envelope.Header.DSN,
	})
	assert.NoError(t, err)
	assert.Equal(t, "abc", auth.PublicKey)
}

func TestSendEnvelope(t *testing.T) {
	b := startBackend(t)
	out, errors, exit := call(t, "", "send", "--dsn", b.dsn(), "--rounds", "2", recorded)
	assert.Empty(t, errors)
	assert.Equal(t, exitOK, exit)
	assert.Contains(t, out, recorded+"  profile, transaction  200\n")
	assert.Contains(t, out, " accepted 2 requests with 2 profiles\n")
	assert.Equal(t, []string{"/api/42/envelope/", "/api/42/envelope/"}, b.paths)
	before, err := sentry.ReadEnvelope(recording(t))
	require.NoError(t, err)
	var ids []string
	for _, body := range b.bodies {
		after, err := sentry.ReadEnvelope(body)
		require.NoError(t, err)
		ids = append(ids, after.Header.EventID)
		assert.WithinDuration(t, time.Now(), after.Header.SentAt, time.Minute)
		assert.Len(t, after.Items, len(before.Items))
	}
	assert.NotContains(t, ids, before.Header.EventID)
	assert.NotEqual(t, ids[0], ids[1])
}

func TestSendRejected(t *testing.T) {
	b := startBackend(t)
	b.answer = func(w http.ResponseWriter) {
		w.Header().Set("X-Sentry-Rate-Limits", "10:profile:key")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	out, _, exit := call(t, "", "send", "--dsn", b.dsn(), recorded)
	assert.Contains(t, out, "429 (rate limit: 10:profile:key)")
	assert.Contains(t, out, "rejected 1 request\n")
	assert.Equal(t, exitFailed, exit)
}

// TestSendOTLP: the messages are those of the translation.
func TestSendOTLP(t *testing.T) {
	b := startBackend(t)
	_, _, exit := call(t, "", "send", "--otlp", b.URL+"/", "--as-is", recorded)
	assert.Equal(t, exitOK, exit)
	assert.Equal(t, []string{"/v1development/profiles", "/v1/traces"}, b.paths)
	got, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b.bodies[0])
	require.NoError(t, err)
	assert.Empty(t, dictionarytest.Diff(received(t, recording(t))[0], got))
}

// TestSendMetrics: metrics of an envelope, and as OTLP JSON.
func TestSendMetrics(t *testing.T) {
	b := startBackend(t)
	_, errors, exit := call(t, "", "send", "--otlp", b.URL, "testdata/cases/trace-metrics-python/in.envelope")
	assert.Equal(t, exitOK, exit, errors)
	assert.Empty(t, errors)
	require.Equal(t, []string{"/v1/metrics"}, b.paths)
	sent, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(b.bodies[0])
	require.NoError(t, err)
	require.NotZero(t, sent.DataPointCount())

	line, err := new(pmetric.JSONMarshaler).MarshalMetrics(sent)
	require.NoError(t, err)
	_, errors, exit = call(t, string(line), "send", "--otlp", b.URL, "--as-is", "-")
	assert.Equal(t, exitOK, exit, errors)
	require.Equal(t, []string{"/v1/metrics", "/v1/metrics"}, b.paths)
	assert.Equal(t, b.bodies[0], b.bodies[1])
}

// TestSendOTLPFresh: messages get new IDs and times, with the same distances.
func TestSendOTLPFresh(t *testing.T) {
	b := startBackend(t)
	old := dictionarytest.ValidProfiles()
	_, errors, exit := call(t, written(t, profilefile.OTLPJSON, "1.10", old), "send", "--otlp", b.URL, "-")
	assert.Equal(t, exitOK, exit, errors)
	require.Len(t, b.bodies, 1)
	fresh, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b.bodies[0])
	require.NoError(t, err)
	dictionarytest.MustBeValid(t, fresh)
	was, is := dictionarytest.FirstProfile(old), dictionarytest.FirstProfile(fresh)
	assert.NotEqual(t, was.ProfileID(), is.ProfileID())
	assert.WithinDuration(t, time.Now(), is.Time().AsTime(), time.Minute)
	assert.NotEqual(t, old.Dictionary().LinkTable().At(1).SpanID(), fresh.Dictionary().LinkTable().At(1).SpanID())
	shifted := uint64(is.Time() - was.Time())
	for i, sample := range was.Samples().All() {
		var want []uint64
		for _, at := range sample.TimestampsUnixNano().All() {
			want = append(want, at+shifted)
		}
		assert.Equal(t, want, is.Samples().At(i).TimestampsUnixNano().AsRaw())
	}
}

// TestSendToDSN: profiles of OTLP become chunks.
func TestSendToDSN(t *testing.T) {
	b := startBackend(t)
	out, errors, exit := call(t, "", "send", "--dsn", b.dsn(), "testdata/otlp/profiles.json", "testdata/otlp/traces.json")
	assert.Equal(t, exitOK, exit, errors)
	assert.Contains(t, out, "testdata/otlp/profiles.json  profile_chunk")
	assert.Contains(t, errors, "1 message with spans")
	require.Len(t, b.bodies, 1)
	_, linted, exit := call(t, string(b.bodies[0]), "lint", "-")
	assert.Equal(t, exitOK, exit, linted)
}

// TestSendPartialSuccess: an endpoint that drops elements says so.
func TestSendPartialSuccess(t *testing.T) {
	b := startBackend(t)
	b.answer = func(w http.ResponseWriter) {
		response := ptraceotlp.NewExportResponse()
		response.PartialSuccess().SetRejectedSpans(3)
		response.PartialSuccess().SetErrorMessage("too old")
		body, _ := response.MarshalProto()
		_, _ = w.Write(body)
	}
	out, _, _ := call(t, "", "send", "--otlp", b.URL, "testdata/otlp/traces.json")
	assert.Contains(t, out, "too old")
	assert.Contains(t, out, "3 rejected")
}

func TestSendMisuse(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, arguments := range [][]string{{}, {"--dsn", "http://h/1"}, {"--dsn", "http://abc@h/1", "--otlp", gone.URL}} {
		_, _, exit := call(t, "", append([]string{"send", recorded}, arguments...)...)
		assert.Equal(t, exitMisused, exit, arguments)
	}
	_, errors, exit := call(t, "", "send", "--otlp", gone.URL, recorded)
	assert.Contains(t, errors, "cannot connect to ")
	assert.Equal(t, exitFailed, exit)
}

// TestArchive: the members of an archive are inputs.
func TestArchive(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, name := range []string{"1.envelope", "2.envelope"} {
		body := recording(t)
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body))}))
		_, err := w.Write(body)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	out, _, exit := call(t, archive.String(), "explain", "-")
	assert.Equal(t, exitOK, exit)
	assert.True(t, slices.Contains(strings.Split(out, "\n"), "-:2.envelope"), out)

	_, errors, exit := call(t, archive.String()[:1000], "explain", "-")
	assert.Contains(t, errors, "unexpected EOF")
	assert.Equal(t, exitFailed, exit)
}

// TestDemoSendsNothingTwice: a request that is in a case and in a run would be one profile with two
// contents.
func TestDemoSendsNothingTwice(t *testing.T) {
	t.Chdir(golden.Root(t))
	cases, err := filepath.Glob("testdata/cases/sdk-*/in.envelope")
	require.NoError(t, err)
	runs, err := filepath.Glob("testdata/runs/*.tar.gz")
	require.NoError(t, err)
	inputs, err := environment{}.read(append(cases, runs...))
	require.NoError(t, err)
	seen := map[string]string{}
	own := regexp.MustCompile(`"(?:chunk_id|event_id)"\s*:\s*"([0-9a-f]{32})"`)
	for _, in := range inputs {
		envelope, err := sentry.ReadEnvelope(in.data)
		require.NoError(t, err)
		for _, item := range envelope.Items {
			if item.Header.Type != sentry.ItemProfile && item.Header.Type != sentry.ItemProfileChunk {
				continue
			}
			for _, match := range own.FindAllSubmatch(item.Payload, 1) {
				assert.Empty(t, seen[string(match[1])], "%s of %s", match[1], in.name)
				seen[string(match[1])] = in.name
			}
		}
	}
	assert.Greater(t, len(seen), 30)
}
