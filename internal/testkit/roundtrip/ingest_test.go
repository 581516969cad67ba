// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/relaytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// countedOnly are the objects of which ingest keeps unknown fields, but which have no place for
// them in OTLP. No SDK is known to send such fields.
var countedOnly = regexp.MustCompile(`^transaction/(contexts/trace|spans\[0\])/(links\[0\]|measurements|measurements/lcp)/$`)

// TestIngestKeepsNoMore: an unknown field that Sentry's ingest keeps comes back.
func TestIngestKeepsNoMore(t *testing.T) {
	relaytest.Python(t)
	var paths []string
	var events [][]byte
	kept := map[string]bool{}
	for _, w := range (&builder{t, map[string]map[string]bool{}}).wholeItems() {
		if w.kind != sentry.ItemEvent && w.kind != sentry.ItemTransaction {
			continue
		}
		for path, payload := range withAdded(t, w.payload) {
			_, back := w.thereAndBack(t, payload)
			paths, events = append(paths, w.name()+path), append(events, []byte(payload))
			kept[w.name()+path] = slices.ContainsFunc(back, func(o tosentry.Outgoing) bool { return strings.Contains(string(o.Payload), addedValue) })
		}
	}
	for i, result := range relaytest.Strip(t, events) {
		var stored map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(result[0], &stored))
		delete(stored, "_meta") // the values of removed fields
		delete(stored, "errors")
		text, err := json.Marshal(stored)
		require.NoError(t, err)
		if strings.Contains(string(text), addedValue) && !countedOnly.MatchString(paths[i]) {
			assert.True(t, kept[paths[i]], "Sentry keeps a field of %s", paths[i])
		}
	}
}

// storedOtherwise are the differences between what Sentry stores from an event that was sent
// directly and from one that came through OTLP.
var storedOtherwise = []difference{
	{"*", `^/sdk/settings/infer_ip = `, "never: the receiver has done it"},
	{"all-fields-event", `^/request/headers`, "the values of a list are sent as several headers"},
	{"all-fields-event", `^/tags`, "the order of tags"},
	{"all-fields-event,include-pii", `^/contexts/trace/data/profiler_id = `, "sent in contexts.profile"},
	{"event-every-field", `^/(_meta|errors\[\d+\])/`, "invalid and unknown fields, which the receiver counts"},
	{"event-node,event-node-7,event-node-locals", `^/contexts/os/(os|version) = `, "without white space around"},
	{"event-node,event-node-7,event-node-locals", `^/contexts/cloud_resource/type = `, "of an empty context"},
	{"event-php", `^/event_id = `, "in the envelope header"},
	{"include-pii", `^/sdk/`, "in the envelope header"},
}

// TestIngestStoresTheSame: Sentry stores the same from an event that was sent directly and from one
// that came through OTLP.
func TestIngestStoresTheSame(t *testing.T) {
	relaytest.Python(t)
	w := (&builder{t, map[string]map[string]bool{}}).wholeItems()[0]
	names, events := []string{}, [][]byte{}
	add := func(name, payload string) {
		_, back := w.thereAndBack(t, payload)
		names, events = append(names, name), append(events, []byte(payload), back[0].Payload)
	}
	add("every field", w.payload)
	for _, c := range golden.Cases(t) {
		if envelope, err := sentry.ReadEnvelope(c.Envelope); err == nil {
			for _, item := range envelope.Items {
				if item.Header.Type == sentry.ItemEvent {
					add(c.Name, string(item.Payload))
				}
			}
		}
	}
	require.Greater(t, len(names), 20)
	used, results := make([]bool, len(storedOtherwise)), relaytest.Strip(t, events)
	for n, name := range names {
		sent, got := golden.JSONLines(results[2*n][0]), golden.JSONLines(results[2*n+1][0])
		for _, line := range append(without(sent, got, "-"), without(got, sent, "+")...) {
			i := slices.IndexFunc(storedOtherwise, func(d difference) bool {
				return (d.items == "*" || slices.Contains(strings.Split(d.items, ","), name)) && regexp.MustCompile(d.path).MatchString(line[1:])
			})
			switch {
			case strings.HasPrefix(line[1:], "/received = "): // the time of this test
			case i >= 0:
				used[i] = true
			default:
				t.Error(name, line)
			}
		}
	}
	for i, d := range storedOtherwise {
		assert.True(t, used[i], "%v: no difference any more", d)
	}
}
