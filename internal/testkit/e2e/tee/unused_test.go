// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestTeeThatForwardsNothing: the log has a warning if no receiver uses the tee, and if the tee
// sends to a receiver of its own collector.
func TestTeeThatForwardsNothing(t *testing.T) {
	const (
		unused = "no receiver uses"
		loop   = "sends to this receiver"
	)
	other := harness.FreeAddress(t)
	for name, test := range map[string]struct {
		middlewares, upstream string
		warnings              []string
	}{
		"used":     {", middlewares: [{id: sentry_tee}]", "http://" + other, nil},
		"not used": {"", "http://" + other, []string{unused}},
		"loop":     {", middlewares: [{id: sentry_tee}]", "http://ENDPOINT", []string{loop}},
	} {
		t.Run(name, func(t *testing.T) {
			c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT%s}
exporters:
  nop: {}
extensions:
  sentry_tee: {upstream: %q}
service:
  extensions: [sentry_tee]
  pipelines:
    logs: {receivers: [sentry], exporters: [nop]}
`, test.middlewares, test.upstream)})
			for _, warning := range []string{unused, loop} {
				assert.Equal(t, len(test.warnings) == 1 && test.warnings[0] == warning, strings.Contains(c.Log.String(), warning), warning)
			}
		})
	}
}
