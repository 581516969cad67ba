// SPDX-License-Identifier: Apache-2.0

//go:build kafka

package kafka

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

const (
	// pause is the time that a backend takes for a profile. The collector in front of it sends one
	// at a time: its capacity is five profiles per second. Spans are not delayed: they would be
	// late for their profiles, see docs/scaling.md.
	pause = 200 * time.Millisecond
	// burst is a number of sessions that one collector would export in two minutes.
	burst = 600
)

// TestCapacity: one project sends sessions at more than ten times the rate that one linking
// collector can export. Four collectors deliver all of them, with the links of a single collector
// that reads the same topics with a fast backend. Then a collector is killed during a burst, and
// returns: still, every profile arrives, and only profiles whose spans were in its index are
// unlinked.
func TestCapacity(t *testing.T) {
	b := startBroker(t)
	b.createTopic(t, "sentry_profiles")
	b.createTopic(t, "sentry_spans")
	all := []string{"a", "b", "c", "d"}
	sinks, linking, held := map[string]*harness.Sink{}, map[string]*harness.Collector{}, t.TempDir()
	start := func(name, url string, changed ...string) {
		linking[name] = startExample(t, b, "linking.yaml", append(changed, "processors.profile_transform.link.wait="+kafkaLinkWait.String()),
			"INSTANCE="+name, "OTLP_ENDPOINT="+url, "HELD_DIRECTORY="+filepath.Join(held, name))
	}
	startSlow := func(name string) {
		slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == harness.ProfilesPath {
				time.Sleep(pause)
			}
			sinks[name].ServeHTTP(w, r)
		}))
		t.Cleanup(slow.Close)
		start(name, slow.URL, "exporters.otlp_http.sending_queue.num_consumers=1", "exporters.otlp_http.sending_queue.sizer=requests",
			"exporters.otlp_http.sending_queue.queue_size=20")
	}
	for _, name := range all {
		sinks[name] = harness.NewSink(t)
		startSlow(name)
	}
	b.waitBalanced(t, all...)
	edge := startExample(t, b, "config.yaml", nil, "QUEUE_DIRECTORY="+t.TempDir())
	project := newKeys(1)
	sendBurst := func() delivery {
		began := time.Now()
		d := send(t, edge, slices.Repeat(project, burst))
		t.Logf("sent %.0f sessions per second; a collector exports %.0f", burst/time.Since(began).Seconds(), 1/pause.Seconds())
		return d
	}

	calm := sendBurst()
	calm.collect(t, sinks)
	for name := range sinks {
		t.Logf("%s exported %d of %d profiles", name, len(calm.of(name)), burst)
	}

	disturbed := sendBurst()
	linking["c"].Kill()
	b.waitBalanced(t, "a", "b", "d")
	startSlow("c") // its queue is on disk
	b.waitBalanced(t, all...)
	disturbed.collect(t, sinks)

	sinks["single"] = harness.NewSink(t)
	start("single", sinks["single"].URL(), "receivers.kafka/profiles.group_id=single-profiles", "receivers.kafka/traces.group_id=single-traces")
	alone := calm.again(disturbed)
	alone.collect(t, map[string]*harness.Sink{"single": sinks["single"]})
	alone.requireLinked(t)
	calm.requireLinked(t)
	unlinked := 0
	for _, sent := range disturbed {
		if sent.linked == "" {
			unlinked++
		} else {
			require.Equal(t, sent.span, sent.linked)
		}
	}
	t.Logf("one killed, one added: %d of %d profiles are unlinked", unlinked, burst)
	require.Less(t, unlinked, burst/2, "three of four collectors keep most of their sessions")
}

// again returns the same sessions, without their output.
func (d delivery) again(others delivery) delivery {
	result := delivery{}
	for _, sessions := range []delivery{d, others} {
		for profiler, s := range sessions {
			result[profiler] = &sent{session: s.session}
		}
	}
	return result
}
