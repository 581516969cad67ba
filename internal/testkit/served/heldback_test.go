// SPDX-License-Identifier: Apache-2.0

package served

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

const contrib = "github.com/open-telemetry/opentelemetry-collector-contrib/"

var (
	component = regexp.MustCompile(`(?m)^  - gomod: ` + contrib + `(\S+) (\S+)(?: # (?:.*; )?held back by (.*))?`)
	blocker   = regexp.MustCompile(`[a-z]+(?:/[a-z]+)+`)
)

// TestHeldBack: builder-config.yaml states for each component that is older than the others which
// modules of the newest release are not served, and they still are not.
func TestHeldBack(t *testing.T) {
	manifest, err := os.ReadFile(filepath.Join(golden.Root(t), "builder-config.yaml"))
	require.NoError(t, err)
	components := component.FindAllStringSubmatch(string(manifest), -1)
	free := slices.IndexFunc(components, func(c []string) bool { return c[3] == "" })
	require.GreaterOrEqual(t, free, 0)
	newest := components[free][2]
	var blockers []string
	held := map[string][]string{} // components by blocker
	for _, c := range components {
		names := blocker.FindAllString(c[3], -1)
		assert.Equal(t, c[2] != newest, len(names) > 0, "%s %s: held back by modules of %s", c[1], c[2], newest)
		for _, name := range names {
			blockers = append(blockers, contrib+name+"@"+newest)
			held[name] = append(held[name], c[1])
		}
	}

	testsize.NeedFull(t)
	slices.Sort(blockers)
	download := exec.Command("go", append([]string{"mod", "download", "-json"}, slices.Compact(blockers)...)...)
	download.Dir = t.TempDir()                         // not in this module
	download.Env = append(os.Environ(), "GOVCS=*:off") // the proxy only
	output, _ := download.Output()
	var news []string
	for list := json.NewDecoder(strings.NewReader(string(output))); ; {
		var module struct{ Path, Error string }
		if err := list.Decode(&module); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err, "%s", output)
		}
		if name := strings.TrimPrefix(module.Path, contrib); module.Error == "" {
			news = append(news, name+", which held back "+strings.Join(held[name], ", "))
		} else {
			t.Log(module.Error)
		}
	}
	if len(news) > 0 {
		t.Skipf("served in %s: %s; update builder-config.yaml", newest, strings.Join(news, "; "))
	}
}
