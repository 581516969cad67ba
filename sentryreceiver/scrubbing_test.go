// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/corpus"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/planted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// plantedCases matches the cases in which secrets are planted: every item type, and an SDK of each
// kind.
var plantedCases = regexp.MustCompile(`^(all-fields-.*|include-pii|described-items|user-feedback|older-names|android-measurements|android-v2-art|` +
	`(event|check-in|logs|spans|transaction|trace-metrics|session|sessions|client-report|feedback|security|replay)-(python|node|browser|java|ruby)|sdk-(python|node|browser).*)$`)

// TestPlantedSecrets: no secret leaves by any signal, metric or log, in any combination of
// settings.
func TestPlantedSecrets(t *testing.T) {
	var total, without atomic.Int64
	t.Run("cases", func(t *testing.T) {
		for i, c := range golden.Cases(t) {
			if !plantedCases.MatchString(c.Name) {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				for turn := range plantedTurns {
					if !testsize.Full() && turn != i%plantedTurns {
						continue // the small size has one turn of each case
					}
					planted, leaving := plant(t, c, turn)
					total.Add(int64(planted))
					without.Add(int64(leaving))
				}
			})
		}
	})
	t.Logf("%d secrets planted; of those of some turns, %d leave without scrubbing", total.Load(), without.Load())
	assert.Greater(t, without.Load(), int64(1000), "the secrets are in places that are translated")
}

// plantedTurns are the ways of planting secrets: as members, and as texts of two classes each.
var plantedTurns = 1 + planted.Classes/2

// plant reports the secrets of one turn that leave, and returns how many it planted and how many
// leave without scrubbing, which in full size it asks in the first two turns only.
func plant(t *testing.T, c golden.Case, turn int) (total, without int) {
	p := &planted.Planter{Secrets: map[string]string{}, Member: turn == 0, Turn: 2 * turn}
	body := p.Envelope(envelopeOf(t, c))
	if body == nil || len(p.Secrets) == 0 {
		return 0, 0
	}
	for leak, place := range leaks(t, p, body, func(cfg *Config) { cfg.IncludePII = turn%2 == 0 }) {
		t.Errorf("%s: a secret at %s leaves:\n%s", c.Name, place, leak)
	}
	if turn < 2 || !testsize.Full() {
		without = len(leaks(t, p, body, func(cfg *Config) { cfg.IncludePII, cfg.Scrubbing = true, scrub.Config{} }))
	}
	return len(p.Secrets), without
}

// leaks returns the lines of the output that contain a secret, and where it was planted.
func leaks(t *testing.T, p *planted.Planter, body []byte, edit func(*Config)) map[string]string {
	s := startSignals(t, edit)
	s.do(caseRequest(s.harness, body))
	var lines []string
	for _, texts := range s.dumps(golden.Receipt{From: time.Now(), To: time.Now()}) {
		for _, text := range texts {
			lines = append(lines, strings.Split(text, "\n")...)
		}
	}
	lines = append(lines, s.reports()...)
	return p.Leaks(lines)
}

// reports returns what the receiver logged and counted.
func (s *signals) reports() (lines []string) {
	for _, entry := range s.harness.logs.All() {
		lines = append(lines, fmt.Sprint(entry.Message, entry.ContextMap()))
	}
	for _, name := range []string{"otelcol_receiver_sentry_items", "otelcol_receiver_sentry_values_scrubbed", "otelcol_receiver_sentry_fields_discarded"} {
		lines = append(lines, fmt.Sprint(s.counts(name)))
	}
	return lines
}

// TestScrubbingSettings: off, and a map with some of the keys.
func TestScrubbingSettings(t *testing.T) {
	body := envelope(item("log", `,"item_count":1`, `{"items":[{"timestamp":1777629600.0,"level":"info","body":"password=x 4111111111111111","attributes":{"author":{"value":"me","type":"string"}}}]}`))
	for name, test := range map[string]struct {
		scrubbing scrub.Config
		want      []string
	}{
		"default":     {scrub.DefaultConfig(), []string{`body = "password=[Filtered] [creditcard]"`, `author = "[Filtered]"`}},
		"safe fields": {scrub.Config{Data: true, Defaults: true, SafeFields: []string{"author"}}, []string{`body = "password=[Filtered] [creditcard]"`, `author = "me"`}},
		"off":         {scrub.Config{}, []string{`body = "password=x 4111111111111111"`, `author = "me"`}},
	} {
		got := receive(t, []byte(body), profile.Lenient, func(cfg *Config) { cfg.Scrubbing = test.scrubbing })
		require.Len(t, got.dumps[golden.Logs], 1, name)
		for _, want := range test.want {
			assert.Contains(t, got.dumps[golden.Logs][0], want, name)
		}
	}
}

// TestScrubbedCorpus compares what scrubbing changes in the recorded requests of real SDKs with a
// list that was reviewed line by line: secrets and IP addresses, but no ID, hash, version or name
// of a file. A line is the key, and the part that differs; numbers are 0.
func TestScrubbedCorpus(t *testing.T) {
	testsize.NeedFull(t)
	with := startSignals(t, nil)
	without := startSignals(t, func(cfg *Config) { cfg.Scrubbing = scrub.Config{} })
	for _, request := range golden.Corpus(t) {
		if !strings.HasSuffix(request.Path, "/envelope/") || len(request.Body) > 30_000 {
			continue // the large ones are profiles: frames
		}
		for _, s := range []*signals{with, without} {
			s.do(caseRequest(s.harness, corpus.Clean(request.Decoded(t))))
		}
	}
	var changes []string
	receipt := golden.Receipt{From: time.Now().Add(-time.Hour), To: time.Now()}
	after, before := with.dumps(receipt), without.dumps(receipt)
	for signal := range before {
		require.Len(t, after[signal], len(before[signal]))
		changes = append(changes, planted.Changes(before[signal], after[signal])...)
	}
	slices.Sort(changes)
	list, err := os.ReadFile("testdata/scrubbed.txt")
	require.NoError(t, err)
	assert.Equal(t, string(list), strings.Join(slices.Compact(changes), "\n")+"\n")
}
