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

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// profileSink is a profiles pipeline.
type profileSink struct {
	all     []pprofile.Profiles
	err     error
	tenants []tenant.Tenant
}

func (*profileSink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *profileSink) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	s.tenants = append(s.tenants, tenant.FromContext(ctx))
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
			golden.CompareFile(t, "testdata/method_trace.txt", dictionarytest.Dump(profiles.all[0]))
			assert.Equal(t, int64(1), h.counts("items")["outcome=accepted type=android_method_trace"])
			assert.Equal(t, int64(1), h.counts("files")["outcome=stored type=android_method_trace"])
			assert.Equal(t, 2, h.sink.records, "the event and the file")
		})
	}
}

// TestTenant: messages of all signals, also about builds and files, have the tenant of the app's
// key, whatever a client sends.
func TestTenant(t *testing.T) {
	h, profiles := startWithProfiles(t)
	h.shared.cfg.Builds.Enabled, h.shared.cfg.Builds.Directory = true, t.TempDir()
	var err error
	h.shared.builds, err = filestore.Open(h.shared.cfg.Builds.Directory, 1<<30)
	require.NoError(t, err)
	upload := androidUploads(t, h.events(batchID, traceBatch).text)[0]
	require.Equal(t, 200, h.send(http.MethodPut, upload.UploadURL, methodTrace(), "subject", "evil", "Authorization", "Bearer "+otherKey).status)
	require.Equal(t, 200, h.send(http.MethodPut, "/events", []byte(`{"events":[`+cpuUsage+`,`+request+`]}`), "Authorization", "Bearer "+testKey, "msr-req-id", shotID, "Content-Type", "application/json").status)
	require.Equal(t, 200, h.send(http.MethodPut, "/builds", []byte(`{"version_name":"1","version_code":"2","build_type":"apk","build_size":1}`), "Authorization", "Bearer "+testKey).status)
	want := tenant.Tenant{Ingress: tenant.Measure, Name: h.shared.apps.byID[appIDOf(testKey)].folder}
	assert.Equal(t, []tenant.Tenant{want}, profiles.tenants)
	assert.Len(t, h.sink.tenants, 1)
	assert.Equal(t, 5, h.sink.tenants[want], "the event, the file, a span, a metric, the build")
}

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
