// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// CompareProfiles compares the profiles in the messages with the items that they were translated
// from, sample by sample.
func (total *Tally) CompareProfiles(items []sentry.Item, messages [][]byte) error {
	// By id, so that nothing depends on the order in which the collector sends the profiles of an
	// envelope.
	received := map[string]pprofile.Profiles{}
	for _, message := range messages {
		if len(message) > harness.LargeMessage {
			return fmt.Errorf("a message of %d bytes, too large to be checked", len(message))
		}
		profiles, err := harness.DecodeProfiles(message)
		if err != nil {
			return err
		}
		if profiles.ProfileCount() != 1 {
			return fmt.Errorf("%d profiles in a message, want 1", profiles.ProfileCount())
		}
		id := harness.ProfileID(profiles)
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
		head, err := ReadProfileHeader(item.Payload)
		if err != nil {
			return err
		}
		profiles, ok := received[head.ID]
		if !ok {
			return fmt.Errorf("%s %s did not come out", kind, head.ID)
		}
		delete(received, head.ID)
		if err := total.compareProfile(kind, profiles, head, item.Payload); err != nil {
			return fmt.Errorf("%s %s: %w", kind, head.ID, err)
		}
	}
	if len(received) > 0 {
		return fmt.Errorf("%d profiles came out that did not go in", len(received))
	}
	return nil
}

func (total *Tally) compareProfile(kind string, profiles pprofile.Profiles, head ProfileHeader, payload []byte) error {
	if _, named := profiles.ResourceProfiles().At(0).Resource().Attributes().Get("service.name"); !named {
		return fmt.Errorf("no service.name")
	}
	got := golden.Observed(profiles.Dictionary(), harness.OnlyProfile(profiles))
	if len(payload) < largePayload || testsize.Full() {
		read, err := sentrytest.Read(head.Format, payload)
		if err != nil {
			return err
		}
		want := golden.Expected(read, head.Anchor)
		if got.Count() != want.Count() || got.Count() != len(read.Samples) {
			return fmt.Errorf("%d observations, want %d", got.Count(), len(read.Samples))
		}
		if diff := got.Diff(want); diff != "" {
			return fmt.Errorf("observations differ: %s", diff)
		}
	}
	total.mu.Lock()
	defer total.mu.Unlock()
	total.Observations += got.Count()
	total.Samples += profiles.SampleCount()
	if kind == "profile" {
		total.V1++
	} else {
		total.V2++
	}
	return nil
}

// largePayload is the size from which the small size counts samples instead of comparing them: the
// race detector makes that ten times slower.
const largePayload = 1 << 20

// ProfileHeader identifies a profile payload and the time that its samples are relative to.
type ProfileHeader struct {
	ID     string
	Format int
	Anchor uint64 // V1: Unix nanoseconds; otherwise 0
}

// ReadProfileHeader reads a header with encoding/json and package time: nothing comes from the
// decoder under test.
func ReadProfileHeader(payload []byte) (h ProfileHeader, err error) {
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
	h.ID = strings.ReplaceAll(fields.EventID+fields.ProfileID+fields.ChunkID, "-", "")
	if h.Format, err = strconv.Atoi(fields.Version); err != nil || h.Format == 2 {
		return h, err
	}
	text, _ := fields.Timestamp.(string)
	start, err := time.Parse(time.RFC3339Nano, text)
	h.Anchor = uint64(start.UnixNano())
	return h, err
}
