// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/relaytest"
)

// levelCases are levels as JSON, and the words that Sentry's ingest stores.
var levelCases = map[string]string{
	`"debug"`: "debug", `"info"`: "info", `"log"`: "info", `"warning"`: "warning", `"error"`: "error", `"fatal"`: "fatal", `"critical"`: "fatal",
	`10`: "debug", `20`: "info", `30`: "warning", `40`: "error", `50`: "fatal",
	`"warn"`: "", `"WARNING"`: "", `"Error"`: "", `" error"`: "", `"trace"`: "", `"notice"`: "", `""`: "",
	`0`: "", `25`: "", `60`: "", `-10`: "", `40.0`: "", `4e1`: "", `18446744073709551626`: "",
}

func TestLevelOf(t *testing.T) {
	for sent, want := range levelCases {
		text := sent
		if sent[0] == '"' {
			require.NoError(t, json.Unmarshal([]byte(sent), &text))
		}
		assert.Equal(t, want, LevelOf(text), sent)
	}
	assert.Equal(t, "error", LevelOf("40"), "in quotes too, although ingest removes it")
}

// TestLevelOfOracle compares the cases with Sentry's own library, which replaces a removed level by
// the default.
func TestLevelOfOracle(t *testing.T) {
	relaytest.Python(t)
	var events [][]byte
	var wants []string
	for sent, want := range levelCases {
		events = append(events, fmt.Appendf(nil, `{"level":%s,"breadcrumbs":[{"level":%s,"message":"m"}]}`, sent, sent))
		wants = append(wants, want)
	}
	for i, stored := range relaytest.Strip(t, events) {
		var event struct {
			Level       string
			Breadcrumbs struct{ Values []struct{ Level string } }
		}
		require.NoError(t, json.Unmarshal(stored[0], &event))
		ofEvent, ofCrumb := wants[i], wants[i]
		if wants[i] == "" {
			ofEvent, ofCrumb = "error", "info"
		}
		assert.Equal(t, ofEvent, event.Level, "%s", events[i])
		assert.Equal(t, ofCrumb, event.Breadcrumbs.Values[0].Level, "%s", events[i])
	}
}
