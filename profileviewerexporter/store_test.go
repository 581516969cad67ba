// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/records"
)

// TestOldestFirst fills the store: the oldest messages are evicted, of any signal.
func TestOldestFirst(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	body := strings.Repeat("x", 100<<10)
	h.addProfile("shop", shop...)
	h.addSpans("shop", 7, testSpan{7, 0, "query", 0, 10})
	for i := range 9 {
		h.addLog("shop", fmt.Sprint(i, body), 7, 7)
	}
	before := get[overviewAnswer](h, "overview")
	require.Len(t, before.Profiles, 1)
	require.Len(t, before.Traces, 1)

	h.addLog("shop", "9"+body, 7, 7)
	h.addLog("shop", "10"+body, 7, 7)
	after := get[overviewAnswer](h, "overview")
	assert.Empty(t, after.Profiles)
	assert.Empty(t, after.Traces)
	assert.Equal(t, int64(3), after.Evicted, "the profile, the spans and a log record")
	assert.LessOrEqual(t, after.Bytes, int64(minMaxBytes))
	assert.Len(t, get[records.ListAnswer](h, "logs").Records, 10)
	status, _ := h.fails("flame?profile=1")
	assert.Equal(t, 410, status)

	s := h.viewer.store
	s.Expire(time.Now().Add(2 * time.Hour))
	stats := s.Stats()
	assert.Zero(t, stats.Bytes)
	assert.Zero(t, stats.Messages)
}

func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := created(t, func(c *Config) { c.MaxAge = time.Minute })
		h.viewer.expiring.Go(h.viewer.expire) // ends with Shutdown
		page := h.viewer.routes()
		profiles := func() int {
			var out overviewAnswer
			require.NoError(t, json.Unmarshal(ask(t, page, "overview?").Body.Bytes(), &out))
			return len(out.Profiles)
		}
		h.addProfile("shop", shop...)
		time.Sleep(h.viewer.cfg.MaxAge - time.Second)
		assert.Equal(t, 1, profiles())
		time.Sleep(2*time.Second + expireInterval)
		assert.Zero(t, profiles())
	})
}

// TestTooLarge: a message larger than the store is counted and dropped, and evicts no other. It is
// no error: the receiver of the pipeline would report it to its clients.
func TestTooLarge(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	h.addProfile("shop", shop...)
	h.addLog("shop", strings.Repeat("x", minMaxBytes), 0, 0)
	overview := get[overviewAnswer](h, "overview")
	assert.Len(t, overview.Profiles, 1)
	assert.Equal(t, int64(1), overview.Dropped)
	m, err := h.telemetry.GetMetric("otelcol_exporter_profile_viewer_dropped_messages")
	require.NoError(t, err)
	assert.Equal(t, int64(1), m.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
}

// TestUnknownDialect: profiles that cannot be read are counted. They are no error either.
func TestUnknownDialect(t *testing.T) {
	encoded, err := os.ReadFile(filepath.Join(golden.Root(t), "internal", "profiles", "dialect", "testdata", "otlp-1.9", "large.pb"))
	require.NoError(t, err)
	profiles, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
	require.NoError(t, err)
	h := start(t, nil)
	h.consume(profiles)
	m, err := h.telemetry.GetMetric("otelcol_exporter_profile_viewer_dropped_messages")
	require.NoError(t, err)
	reason, _ := m.Data.(metricdata.Sum[int64]).DataPoints[0].Attributes.Value("reason")
	assert.Equal(t, reasonDialect, reason.AsString())
}

// TestSummaries: summaries count as well. The summary of a message with a span per sample is larger
// than its samples.
func TestSummaries(t *testing.T) {
	message := timelinetest.Message("shop", timelinetest.Wall, shop[0])
	p := timelinetest.Profile(message)
	links := message.Dictionary().LinkTable()
	for i := range 1000 {
		link := links.AppendEmpty()
		link.SetTraceID(timelinetest.Trace(1))
		link.SetSpanID([8]byte{1, byte(i), byte(i >> 8)})
		sample := p.Samples().AppendEmpty()
		p.Samples().At(0).CopyTo(sample)
		sample.SetLinkIndex(int32(links.Len() - 1))
	}
	h := start(t, nil)
	h.consume(message)
	assert.Greater(t, h.viewer.store.Stats().Bytes, int64(1000*200), "two entries of maps, by span and by trace")
	assert.Equal(t, 1001, get[overviewAnswer](h, "overview").Profiles[0].Spans)
	assert.Len(t, get[profileAnswer](h, "profiles/1").SpanList, maxSpansListed)
}

func TestSeveralProfilesInAMessage(t *testing.T) {
	message := timelinetest.Message("shop", timelinetest.Wall, shop...)
	scope := message.ResourceProfiles().At(0).ScopeProfiles().At(0)
	scope.Profiles().At(0).CopyTo(scope.Profiles().AppendEmpty())
	scope.Profiles().At(1).Samples().RemoveIf(func(s pprofile.Sample) bool { return s.LinkIndex() == 0 })
	h := start(t, nil)
	h.consume(message)
	require.Len(t, get[overviewAnswer](h, "overview").Profiles, 2)
	const alone = 40 * ms // without the sample between them, the gap is larger
	assert.Equal(t, int64(alone), get[flameAnswer](h, "flame?profile=2").Total)
	assert.Equal(t, int64(90*ms+alone), get[flameAnswer](h, "flame?profile=1&profile=2").Total)
	assert.Equal(t, 1, h.viewer.store.Stats().Messages)
}

func TestEmptyMessages(t *testing.T) {
	h := start(t, nil)
	h.consume(pprofile.NewProfiles())
	require.NoError(t, h.traces.ConsumeTraces(context.Background(), ptrace.NewTraces()))
	assert.Zero(t, h.viewer.store.Stats().Messages)
}

// TestConcurrency adds, evicts and reads at the same time.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	var all sync.WaitGroup
	rounds := 1
	if testsize.Full() {
		rounds = 4
	}
	for range rounds {
		all.Go(func() {
			for i := range 150 {
				assert.NoError(t, h.profiles.ConsumeProfiles(context.Background(), timelinetest.Message("shop", timelinetest.Wall, shop...)))
				if i%10 == 0 {
					h.addSpans("shop", 7, testSpan{7, 0, "query", 0, 10})
					h.addLog("shop", strings.Repeat("x", 50<<10), 7, 7)
				}
			}
		})
		all.Go(func() {
			for i := range 40 {
				for _, path := range []string{"overview", fmt.Sprintf("flame?profile=%d", i*10+1), "flame?" + span7, "traces/00000000000000000000000000000007", "logs"} {
					response, body := h.request("/api/" + path)
					assert.Contains(t, []int{200, 404, 410}, response.StatusCode, "%s: %s", path, body)
				}
			}
		})
	}
	all.Wait()
	stats := h.viewer.store.Stats()
	assert.Positive(t, stats.Evicted)
	assert.LessOrEqual(t, stats.Bytes, int64(minMaxBytes))
}

// TestTenantsShareTheStore: a tenant that sends more than fits evicts its own messages, also if
// they state another tenant's project.
func TestTenantsShareTheStore(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	send := func(project, body string) {
		logs := plog.NewLogs()
		resource := logs.ResourceLogs().AppendEmpty()
		resource.Resource().Attributes().PutStr("sentry.project_id", "1")
		resource.Resource().Attributes().PutStr("service.name", "of "+project)
		resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(body)
		ctx := t.Context()
		if project != "" {
			ctx = tenant.NewContext(ctx, tenant.Tenant{Ingress: tenant.Sentry, Name: project})
		}
		require.NoError(t, h.logs.ConsumeLogs(ctx, logs))
	}
	send("1", "quiet")
	send("", "of no project")
	for i := range 40 {
		send("2", fmt.Sprint(i, strings.Repeat("x", 100<<10)))
	}
	var quiet []string
	var loud int
	for _, r := range get[records.ListAnswer](h, "logs").Records {
		if r.Service == "of 2" {
			loud++
		} else {
			quiet = append(quiet, r.Body)
		}
	}
	assert.Equal(t, []string{"of no project", "quiet"}, slices.Sorted(slices.Values(quiet)))
	assert.Equal(t, 10, loud, "as many as fit")
	h.viewer.store.Expire(time.Now().Add(2 * time.Hour))
	assert.Zero(t, h.viewer.store.Stats().Messages)
}
