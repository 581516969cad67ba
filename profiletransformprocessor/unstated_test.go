// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// statedSession is the attribute of streamed segments that @sentry/node 11.12.0 omits beside
// @sentry/profiling-node 11.1.0. The requests of such a pair differ in nothing else.
var statedSession = regexp.MustCompile(`,"sentry\.profiler_id":\{"value":"[0-9a-f]+","type":"string"\}|"sentry\.profiler_id":\{[^}]*\},`)

// TestUnstatedSessions: recorded spans of node get the same links if they do not state the profiler
// session, whatever the order.
func TestUnstatedSessions(t *testing.T) {
	for _, scenario := range []string{"continuous-manual", "continuous-trace"} {
		requests := slices.DeleteFunc(golden.Corpus(t), func(r golden.Request) bool {
			return !strings.HasPrefix(r.Name, "sentry.javascript.node-11.1.0/"+scenario+"/")
		})
		stated := replayRequests(t, requests)
		for i := range requests {
			r := &requests[i]
			if slices.Contains(r.Items, "span") {
				r.Body, r.Encoding = statedSession.ReplaceAll(r.Decoded(t), nil), ""
				require.NotContains(t, string(r.Body), "profiler_id")
			}
		}
		unstated := replayRequests(t, requests)
		assert.Equal(t, stated.links(), unstated.links(), scenario)
		assert.NotZero(t, linksIn(unstated), scenario)
		slices.Reverse(unstated.sent)
		assert.Equal(t, stated.links(), replay(t, unstated.sent).links(), "%s, backwards", scenario)
	}
}

func linksIn(r replayed) (n int) {
	for _, message := range r.profiles {
		for _, o := range observationsOf(message) {
			if !o.span.IsEmpty() {
				n++
			}
		}
	}
	return n
}
