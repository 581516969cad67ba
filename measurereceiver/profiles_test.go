// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// profileSink is a profiles pipeline.
type profileSink struct {
	all []pprofile.Profiles
	err error
}

func (*profileSink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *profileSink) ConsumeProfiles(_ context.Context, profiles pprofile.Profiles) error {
	if s.err == nil {
		s.all = append(s.all, profiles)
	}
	return s.err
}

// traceBatch announces a method trace.
var traceBatch = `{"events":[` + strings.Replace(screenView, `"type":"screenshot","name":"a.webp"`, `"type":"android_method_trace","name":"a.trace"`, 1) + `]}`

// methodTrace is a small one.
func methodTrace() []byte {
	trace := arttrace.Trace{Version: 3, Clock: arttrace.ClockDual, Elapsed: 25 * time.Millisecond, Threads: []arttrace.Thread{{ID: 7, Name: "main"}},
		Methods: []arttrace.Method{{ID: 4, Class: "com.example.shop.Cart", Name: "open", Signature: "()V", File: "Cart.kt", Line: 12}}}
	return arttracetest.File(trace, []arttrace.Event{{Thread: 7, Method: 4}})
}

func startWithProfiles(t *testing.T) (*harness, *profileSink) {
	h := start(t, nopHost, func(c *Config) { c.Attachments.Directory = t.TempDir() })
	profiles := &profileSink{}
	h.shared.pipelines.Profiles = profiles
	return h, profiles
}

// TestMethodTrace: an attached method trace is stored, described, and translated.
func TestMethodTrace(t *testing.T) {
	for name, content := range map[string][]byte{"plain": methodTrace(), "compressed": zippedBytes(t, methodTrace())} {
		t.Run(name, func(t *testing.T) {
			h, profiles := startWithProfiles(t)
			upload := androidUploads(t, h.events(batchID, traceBatch).text)[0]
			for range 2 {
				require.Equal(t, 200, h.send(http.MethodPut, upload.UploadURL, content).status)
			}
			require.Len(t, profiles.all, 1)
			require.Empty(t, conformance.Check(profiles.all[0]))
			assert.Equal(t, strings.TrimSpace(methodTraceGolden), strings.TrimSpace(dictionary.Dump(profiles.all[0])))
			assert.Equal(t, int64(1), h.counts("items")["outcome=accepted type=android_method_trace"])
			assert.Equal(t, int64(1), h.counts("files")["outcome=stored type=android_method_trace"])
			assert.Equal(t, 2, h.sink.records, "the event and the file")
		})
	}
}

const methodTraceGolden = `
resource
  android.os.api_level = "34"
  app.build_id = "240"
  app.installation.id = "6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31"
  deployment.environment.name = "prod"
  os.name = "Android"
  os.type = "linux"
  os.version = "14"
  service.name = "com.example.shop"
  service.version = "2.4.0"
  telemetry.sdk.language = "kotlin"
  telemetry.sdk.name = "measure"
  telemetry.sdk.version = "0.19.0"
scope github.com/otelcol-sentry/otelcol-sentry/measurereceiver
profile 7d0c2c0e8a4b4f0e9a350e4f9f5f5a10
  time      2026-08-01T10:00:00.25Z
  duration  30.000000ms
  samples   samples/count
  period    wall/nanoseconds every 10.000000ms
  measure.event.id = "3c0a4e1e-7d51-4d7f-8f3e-000000000001"
  sentry.active_thread.id = 7
  session.id = "9f2f5a0e-58f4-4a3c-8b53-0a1c7f1d2e3f"
  sample thread.id=7 thread.name="main"
    3 timestamps
      +0.000000ms +10.000000ms +20.000000ms
    stack
      open Cart.kt:12 {profile.frame.type="jvm" sentry.frame.in_app=true sentry.frame.module="com.example.shop.Cart" sentry.frame.platform="java" sentry.frame.signature="()V"}
`

func zippedBytes(t *testing.T, content []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, err := w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return zipped.Bytes()
}

// TestMethodTraceRefused: what the pipeline refuses comes again, and then becomes a profile once,
// even if the description of the file is refused.
func TestMethodTraceRefused(t *testing.T) {
	h, profiles := startWithProfiles(t)
	upload := androidUploads(t, h.events(batchID, traceBatch).text)[0]
	put := func() int {
		h.clock.Skip(time.Second)
		return h.send(http.MethodPut, upload.UploadURL, methodTrace()).status
	}
	profiles.err = errors.New("full")
	require.Equal(t, 503, put())
	profiles.err, h.sink.logs = nil, errors.New("full")
	require.Equal(t, 503, put())
	require.Equal(t, 503, put())
	h.sink.logs = nil
	require.Equal(t, 200, put())
	assert.Len(t, profiles.all, 1)
	assert.Equal(t, 2, h.sink.records)
}

// TestUnusableMethodTrace: it is stored and counted.
func TestUnusableMethodTrace(t *testing.T) {
	for reason, content := range map[string][]byte{
		"profiling_invalid_sampled_profile": []byte("trace"),
		"profiling_exceed_size_limit":       bytes.Repeat([]byte("*"), 10<<20),
	} {
		h, profiles := startWithProfiles(t)
		upload := androidUploads(t, h.events(batchID, traceBatch).text)[0]
		require.Equal(t, 200, h.send(http.MethodPut, upload.UploadURL, content).status, reason)
		assert.Empty(t, profiles.all, reason)
		assert.Equal(t, int64(1), h.counts("items")["outcome=discarded reason="+reason+" type=android_method_trace"])
		assert.Equal(t, int64(1), h.counts("files")["outcome=stored type=android_method_trace"], reason)
	}
}
