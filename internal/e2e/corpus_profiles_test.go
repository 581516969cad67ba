// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// compareProfiles holds the profiles that came out for a request against what the oracle reads in its items, sample by sample.
func (total *tally) compareProfiles(items []sentry.Item, messages [][]byte) error {
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
	for _, item := range items {
		kind := string(item.Header.Type)
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
