// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestFaults has each fault occur in each configuration of exporters, and writes docs/faults.md
// except for the part on the tee.
func TestFaults(t *testing.T) { runRounds(t, setups, (*faultsPage).writeExporters) }

// TestTee does the same with a tee, and writes its part of docs/faults.md.
func TestTee(t *testing.T) { runRounds(t, teeSetups, (*faultsPage).writeTee) }

// runRounds has each fault occur in each configuration, a number of times and at random moments,
// and compares what the collector acknowledged with what arrived, by ID. It writes the page if -run
// left out no round.
func runRounds(t *testing.T, setups []setup, write func(*faultsPage, *testing.T)) {
	harness.Binary(t)
	rounds, seed := number(t, "FAULTS", defaultRounds), number(t, "FAULTS_SEED", rand.IntN(1e6))
	page := newFaultsPage(setups, rounds, seed)
	begun := 0 // number of combinations of fault and configuration
	t.Run("rounds", func(t *testing.T) {
		for f := range faults {
			for s := range setups {
				t.Run(faults[f].name+", "+setups[s].name, func(t *testing.T) {
					begun++
					t.Parallel()
					for round := range rounds {
						t.Run(strconv.Itoa(round), func(t *testing.T) {
							t.Parallel() // rounds mostly wait
							r := newRig(t, setups[s], uint64(((seed*100+f)*100+s)*10000+round))
							faults[f].happen(r)
							result, unexplained := r.settle()
							assert.Empty(t, unexplained, "acknowledged, and neither delivered nor explained")
							if r.otlp != nil {
								assert.Empty(t, r.otlp.settle(t), "acknowledged, and not delivered as OTLP")
							}
							page.round(f, s, r, result, unexplained)
						})
					}
				})
			}
		}
	})
	if begun < len(faults)*len(setups) {
		t.Log("docs/faults.md stays as it is: not everything has run")
		return
	}
	write(page, t)
}

// defaultRounds rounds of each fault and configuration take about five minutes.
const defaultRounds = 5

// number returns the value of an environment variable.
func number(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "%s", fmt.Sprintf("%s is a number", name))
	return n
}
