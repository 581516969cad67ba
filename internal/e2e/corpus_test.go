package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry/sentrytest"
)

// TestCorpus posts every recorded envelope as its SDK did. Each is answered 200, whatever was answered then; every profile in
// it comes out of the other end with the samples that the oracle reads in it; and the collector's own counters add up.
func TestCorpus(t *testing.T) {
	requests := golden.Corpus(t)
	backend := newSink(t)
	c := start(t, settings{sink: backend})

	var total tally
	compare := newWorkers(2) // reading a chunk of 34 MB twice takes longer than sending it
	for _, recording := range requests {
		if recording.Method != http.MethodPost || !strings.HasSuffix(recording.Path, "/envelope/") {
			continue // by a tunnel, to the store endpoint, or a report of the browser's
		}
		got := c.send(t, recorded(recording))
		require.Equal(t, http.StatusOK, got.status, "%s: %s", recording.Name, got.body)
		require.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"), recording.Name)
		messages, sent := backend.take(), recording.Decoded(t)
		total.request(recording)
		compare.run(func() {
			assert.NoError(t, total.compare(recording.Items, sent, got, messages), recording.Name)
		})
	}
	compare.wait()

	require.Equal(t, 729, total.requests)
	require.Equal(t, 109, total.v1)
	require.Equal(t, 112, total.v2)
	total.checkMetrics(t, c.scrape(t))
	checkLog(t, c, "8f3d1c0a9b7e4d52a1c6f0e3b2d49871")
	t.Logf("%d requests, %d V1 and %d V2 profiles, %d observations in %d samples compared; peak memory %d MiB",
		total.requests, total.v1, total.v2, total.observations, total.samples, c.peakMemory(t))
}

// tally adds up what went in and what came out.
type tally struct {
	mu           sync.Mutex
	requests     int
	items        map[string]int // by type, as the index of the corpus lists them
	v1, v2       int
	observations int // timestamps out
	samples      int // OTLP samples
}

func (total *tally) request(recording golden.Request) {
	total.mu.Lock()
	defer total.mu.Unlock()
	total.requests++
	if total.items == nil {
		total.items = map[string]int{}
	}
	for _, item := range recording.Items {
		total.items[item]++
	}
}

// compare holds what came out for a request against what the oracle reads in it. types are those of its items.
func (total *tally) compare(types []string, sent []byte, got answer, messages [][]byte) error {
	envelope, err := sentry.ReadEnvelope(sent)
	if err != nil {
		return err
	}
	if err := checkAnswer(got, envelope); err != nil {
		return err
	}
	// By id, so that nothing depends on the order in which the collector sends the profiles of an envelope.
	received := map[string]pprofile.Profiles{}
	for _, message := range messages {
		if len(message) > large {
			return fmt.Errorf("a message of %d bytes, too large to be checked", len(message))
		}
		profiles, err := decode(message)
		if err != nil {
			return err
		}
		if profiles.ProfileCount() != 1 {
			return fmt.Errorf("%d profiles in a message, want 1", profiles.ProfileCount())
		}
		id := profileID(profiles)
		if _, twice := received[id]; twice {
			return fmt.Errorf("profile %s comes out twice", id)
		}
		received[id] = profiles
	}
	if len(envelope.Items) != len(types) {
		return fmt.Errorf("%d items, in the index of the corpus %d", len(envelope.Items), len(types))
	}
	for i, item := range envelope.Items {
		kind := string(item.Header.Type)
		if kind != types[i] {
			return fmt.Errorf("item %d is a %s, in the index of the corpus a %s", i, kind, types[i])
		}
		if kind != "profile" && kind != "profile_chunk" {
			continue
		}
		head, err := readHead(item.Payload)
		if err != nil {
			return err
		}
		profiles, ok := received[head.id]
		if !ok {
			return fmt.Errorf("%s %s did not come out", kind, head.id)
		}
		delete(received, head.id)
		if err := total.compareProfile(kind, profiles, head, item.Payload); err != nil {
			return fmt.Errorf("%s %s: %w", kind, head.id, err)
		}
	}
	if len(received) > 0 {
		return fmt.Errorf("%d profiles came out that did not go in", len(received))
	}
	return nil
}

func (total *tally) compareProfile(kind string, profiles pprofile.Profiles, head head, payload []byte) error {
	if _, named := profiles.ResourceProfiles().At(0).Resource().Attributes().Get("service.name"); !named {
		return fmt.Errorf("no service.name")
	}
	got := golden.Observed(profiles.Dictionary(), onlyProfile(profiles))
	if len(payload) < largePayload || !testing.Short() {
		read, err := sentrytest.Read(head.format, payload)
		if err != nil {
			return err
		}
		want := golden.Expected(read, head.anchor)
		if got.Count() != want.Count() || got.Count() != len(read.Samples) {
			return fmt.Errorf("%d observations, want %d", got.Count(), len(read.Samples))
		}
		if diff := got.Diff(want); diff != "" {
			return fmt.Errorf("observations differ: %s", diff)
		}
	}
	total.mu.Lock()
	defer total.mu.Unlock()
	total.observations += got.Count()
	total.samples += profiles.SampleCount()
	if kind == "profile" {
		total.v1++
	} else {
		total.v2++
	}
	return nil
}

// checkMetrics: nothing is lost without a trace, and nothing counted that is not there.
func (total *tally) checkMetrics(t testing.TB, metrics points) {
	items := 0
	for kind, count := range total.items {
		items += count
		outcome := "outcome=ignored"
		if kind == "profile" || kind == "profile_chunk" {
			outcome = "outcome=accepted"
		}
		assert.Equal(t, count, metrics.sum("otelcol_receiver_sentry_items", "type="+kind, outcome), kind)
	}
	assert.Equal(t, items, metrics.sum("otelcol_receiver_sentry_items"), "items of all types and outcomes")
	assert.Zero(t, metrics.sum("otelcol_receiver_sentry_requests_rejected"))
	assert.Equal(t, total.samples, metrics.sum("otelcol_receiver_accepted_profile_samples"))
	assert.Zero(t, metrics.sum("otelcol_receiver_refused_profile_samples"))
	assert.Equal(t, total.samples, metrics.sum("otelcol_exporter_sent_profile_samples"))
}

// checkAnswer: the id is the envelope's, where it has one.
func checkAnswer(got answer, envelope *sentry.Envelope) error {
	var said struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(got.body), &said); err != nil {
		return fmt.Errorf("answer %q: %w", got.body, err)
	}
	if id := strings.ReplaceAll(envelope.Header.EventID, "-", ""); id != "" && said.ID != id {
		return fmt.Errorf("answer %q to event %s", got.body, id)
	}
	return nil
}

// largePayload: the oracle takes its time for these, ten times as much under the race detector. With -short they are counted.
const largePayload = 1 << 20

// head is the beginning of a payload: which profile it is, and when its time begins.
type head struct {
	id     string
	format int
	anchor uint64 // V1: unix nanoseconds; else 0
}

// readHead reads it with encoding/json and package time, so that not even the anchor comes from the decoder under test.
func readHead(payload []byte) (h head, err error) {
	var fields struct {
		EventID   string `json:"event_id"`
		ProfileID string `json:"profile_id"`
		ChunkID   string `json:"chunk_id"`
		Version   string `json:"version"`
		Timestamp any    `json:"timestamp"` // java sends a number in V2
	}
	if err := json.Unmarshal(payload, &fields); err != nil {
		return h, err
	}
	h.id = strings.ReplaceAll(fields.EventID+fields.ProfileID+fields.ChunkID, "-", "")
	if h.format, err = strconv.Atoi(fields.Version); err != nil || h.format == 2 {
		return h, err
	}
	text, _ := fields.Timestamp.(string)
	start, err := time.Parse(time.RFC3339Nano, text)
	h.anchor = uint64(start.UnixNano())
	return h, err
}

// workers run functions beside the test, a few at a time.
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
