// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

const (
	teeRate  = 100 // requests a second: half of what two collectors and the sender can do on two cores
	teeTurns = 10

	maxTeeCPU = 1.25 // by the acceptance criterion of the tee
)

// compareTee sends the same requests to a collector with a tee and to one without, in turns: what
// else the machine does affects both.
func compareTee(t *testing.T, m mix, page *loadPage) {
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { _, _ = io.Copy(io.Discard, req.Body) }))
	t.Cleanup(upstream.Close)
	config := func(middlewares string) harness.Settings {
		return harness.Settings{Config: fmt.Sprintf(`
extensions:
  sentry_tee: {upstream: '%s'}
receivers:
  sentry: {endpoint: ENDPOINT%s}
exporters:
  nop:
service:
  extensions: [sentry_tee]
  pipelines:
    profiles: {receivers: [sentry], exporters: [nop]}
    traces: {receivers: [sentry], exporters: [nop]}
`, upstream.URL, middlewares)}
	}
	senders := []*sender{
		sentrySender(harness.Start(t, config("")), m), sentrySender(harness.Start(t, config(", middlewares: [{id: sentry_tee}]")), m),
	}
	sums := make([]stretch, len(senders))
	poster, posting := newPoster(t, m, upstream.URL), time.Duration(0)
	for range teeTurns {
		posting += poster.send(t)
		for i, s := range senders {
			turn := s.send(t, teeRate, time.Second)
			sums[i].waits = append(sums[i].waits, turn.waits...)
			sums[i].cpu += turn.cpu
		}
	}
	perRequest := func(s stretch) time.Duration { return s.cpu / time.Duration(len(s.waits)) }
	var rows strings.Builder
	for i, name := range []string{"without", "with a tee"} {
		slices.Sort(sums[i].waits)
		fmt.Fprintf(&rows, "| %s | %d | %v | %v | %v | %v |\n", name, len(sums[i].waits), perRequest(sums[i]).Round(10*time.Microsecond),
			sums[i].wait(0.5), sums[i].wait(0.9), sums[i].wait(0.99))
	}
	posting /= teeTurns * teeRate
	fmt.Fprintf(&rows, "| posting alone | %d | %v | | | |\n", teeTurns*teeRate, posting.Round(10*time.Microsecond))
	without := float64(perRequest(sums[0]))
	ratio, least := float64(perRequest(sums[1]))/without, 1+float64(posting)/without
	page.tee = rows.String() + fmt.Sprintf("\nCPU time *with a tee* ÷ *without*: %.2f. Sum of *without* and *posting alone* ÷ *without*: %.2f. One-minute load average: %s.\n",
		ratio, least, harness.LoadAverage())
	t.Log("\n" + page.tee)
	assert.LessOrEqual(t, ratio, maxTeeCPU)
}
