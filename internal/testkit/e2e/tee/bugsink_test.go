// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestBugsink: Sentry's Python SDK produces the same issues in a real server with and without the
// tee.
func TestBugsink(t *testing.T) {
	server := harness.StartBugsink(t, "direct", "tee")
	c := harness.Start(t, settings(harness.NewSink(t), "upstream: 'http://"+server.Address+"'"))
	for _, dsn := range []string{server.DSNs[0], strings.Replace(server.DSNs[1], server.Address, c.Address, 1)} {
		command := exec.Command(server.Python, "python/errors.py")
		command.Env, command.Stderr = append(os.Environ(), "SENTRY_DSN="+dsn), os.Stderr
		require.NoError(t, command.Run())
	}

	type issue struct {
		title  string
		events int
	}
	issues := func(project string) (list []issue) {
		for _, i := range server.Issues(t, project) {
			list = append(list, issue{i.Type + ": " + i.Value, len(i.Events)})
		}
		return list
	}
	want := []issue{{"KeyError: 'amount'", 2}, {"ValueError: amount is negative", 2}, {"ZeroDivisionError: division by zero", 2}}
	assert.Equal(t, want, issues("direct"))
	var through []issue
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); { // the tee forwards after it has responded
		if through = issues("tee"); assert.ObjectsAreEqual(want, through) {
			break
		}
	}
	assert.Equal(t, want, through)
}
