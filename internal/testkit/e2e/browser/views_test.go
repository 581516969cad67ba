// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBrowserViewerFirst: a new user finds the DSN for the SDK, and the reason if data was rejected.
func TestBrowserViewerFirst(t *testing.T) {
	b := findBrowser(t)
	c, page := startQuickstart(t)
	traffic := b.run(t, "viewer-first.mjs", page+"?sdk="+c.Address)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct{ Findings, Rows []string }
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	rows := strings.Join(result.Rows, "\n")
	assert.Contains(t, rows, "auth_bad_key")
	assert.Contains(t, rows, "profile_chunk items")
	t.Logf("%s", rows)
}

// TestBrowserViewerAxe: axe has no findings in any view, in two themes and three sizes.
func TestBrowserViewerAxe(t *testing.T) {
	b := findBrowser(t)
	c, page := startQuickstart(t)
	sendDemo(t, c)
	traffic := b.run(t, "viewer-axe.mjs", page)
	assert.Empty(t, traffic.Errors)
	var result struct {
		Findings []string
		Views    int
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	t.Logf("%d views without findings", result.Views)
}

// TestBrowserViewerLive: data appears in the open view when it arrives; live updates can be paused, and the store cleared.
func TestBrowserViewerLive(t *testing.T) {
	b := findBrowser(t)
	c, page := startQuickstart(t)
	traffic := b.run(t, "viewer-live.mjs", page+"?sdk="+c.Address)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	t.Logf("%s", traffic.Result)
}
