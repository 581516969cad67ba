// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestCorpus sends every recorded request as its SDK did, to a collector that exports all four
// signals. Each is answered with 200, regardless of the recorded status. The output has every
// profile with the samples that the oracle reads, every span with its parent, and the log records
// and data points of docs/mapping.md. The collector's own counters match.
func TestCorpus(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend, Signals: harness.OtherSignals, Receiver: []string{"tunnel_path: /tunnel"}})

	total := traffic{Tally: oracle.NewTally(), items: map[string]int{}}
	compare := newWorkers(2) // decoding a chunk of 34 MB twice takes longer than sending it
	for _, recording := range golden.Corpus(t) {
		got := c.Send(t, harness.RecordedRequest(recording))
		require.Equal(t, http.StatusOK, got.Status, "%s: %s", recording.Name, got.Body)
		require.Equal(t, "*", got.Header.Get("Access-Control-Allow-Origin"), recording.Name)
		envelope, messages := total.request(t, recording), backend.DrainAll()
		compare.run(func() {
			assert.NoError(t, checkAnswer(got, envelope), recording.Name)
			assert.NoError(t, total.CompareProfiles(envelope.Items, messages[harness.ProfilesPath]), recording.Name)
			assert.NoError(t, total.CompareOthers(envelope, messages), recording.Name)
		})
	}
	compare.wait()

	require.Equal(t, 784, total.requests)
	require.Equal(t, 109, total.V1)
	require.Equal(t, 116, total.V2)
	require.Equal(t, 4349, total.Out["span"])
	total.checkMetrics(t, c.Scrape(t))
	harness.CheckLog(t, c, "8f3d1c0a9b7e4d52a1c6f0e3b2d49871", "jane@example.com")
	t.Logf("%d requests with %d items; %d V1 and %d V2 profiles with %d observations in %d samples; %d spans, %d of them under another; "+
		"%d log records, %d data points; peak memory %d MiB", total.requests, sum(total.items), total.V1, total.V2, total.Observations,
		total.Samples, total.Out["span"], total.checkParents(t), total.Out["record"], total.Out["point"], c.RequirePeakMemory(t))
}

// traffic counts input and output.
type traffic struct {
	*oracle.Tally
	requests int
	items    map[string]int // by type
}

// request counts the input. A request without an envelope counts as one item.
func (total *traffic) request(t *testing.T, recording golden.Request) *sentry.Envelope {
	envelope := &sentry.Envelope{Items: []sentry.Item{{}}}
	switch recording.Items[0] {
	case "(store)":
		envelope.Items[0].Header.Type, envelope.Items[0].Payload = sentry.ItemEvent, recording.Event(t)
	case "(security)":
		envelope.Items[0].Header.Type, envelope.Items[0].Payload = sentry.ItemRawSecurity, recording.Decoded(t)
	default:
		var err error
		envelope, err = sentry.ReadEnvelope(recording.Decoded(t))
		require.NoError(t, err, recording.Name)
		require.Len(t, envelope.Items, len(recording.Items), "items in the index of the corpus of %s", recording.Name)
	}
	for i, item := range envelope.Items {
		if listed := recording.Items[i]; !strings.HasPrefix(listed, "(") {
			require.Equal(t, listed, string(item.Header.Type), recording.Name)
		}
		total.items[string(item.Header.Type)]++
	}
	total.requests++
	return envelope
}

// checkParents returns the number of spans whose parent is in the same trace, and checks that it is
// the same as in the input.
func (total *traffic) checkParents(t *testing.T) (children int) {
	for span, parent := range total.Parents {
		if _, there := total.Parents[parent]; there {
			children++
		}
		require.NotEqual(t, span, parent)
	}
	return children
}

// checkMetrics: no loss is uncounted, and nothing else is counted. All items of every type were
// accepted, except "statsd", which Sentry has retired.
func (total *traffic) checkMetrics(t testing.TB, metrics harness.Metrics) {
	for _, kind := range slices.Sorted(maps.Keys(total.items)) {
		count, outcome := total.items[kind], "outcome=accepted"
		if kind == "statsd" {
			outcome = "outcome=ignored"
		}
		counted := metrics.Sum("otelcol_receiver_sentry_items", "type="+kind, outcome)
		assert.Equal(t, count, counted, kind)
		t.Logf("%-16s %4d in, %4d with %s", kind, count, counted, outcome)
	}
	assert.Equal(t, sum(total.items), metrics.Sum("otelcol_receiver_sentry_items"), "items of all types and outcomes")
	assert.Zero(t, metrics.Sum("otelcol_receiver_sentry_requests_rejected"))
	assert.Zero(t, metrics.Sum("otelcol_receiver_sentry_elements_discarded"))
	for name, count := range map[string]int{
		"profile_samples": total.Samples, "spans": total.Out["span"], "log_records": total.Out["record"], "metric_points": total.Out["point"],
	} {
		assert.Equal(t, count, metrics.Sum("otelcol_receiver_accepted_"+name), name)
		assert.Zero(t, metrics.Sum("otelcol_receiver_refused_"+name), name)
		assert.Equal(t, count, metrics.Sum("otelcol_exporter_sent_"+name), name)
	}
}

func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// checkAnswer checks that the ID in the response is that of the envelope, if it has one.
func checkAnswer(got harness.Response, envelope *sentry.Envelope) error {
	var said struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(got.Body), &said); err != nil {
		return fmt.Errorf("answer %q: %w", got.Body, err)
	}
	if id := strings.ReplaceAll(envelope.Header.EventID, "-", ""); id != "" && said.ID != id {
		return fmt.Errorf("answer %q to event %s", got.Body, id)
	}
	return nil
}

// workers runs functions concurrently with the test, a few at a time.
type workers struct {
	free chan struct{}
	all  sync.WaitGroup
}

func newWorkers(n int) *workers { return &workers{free: make(chan struct{}, n)} }

func (w *workers) run(work func()) {
	w.free <- struct{}{}
	w.all.Go(func() {
		defer func() { <-w.free }()
		work()
	})
}

func (w *workers) wait() { w.all.Wait() }
