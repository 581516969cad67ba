// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/symbols/proguard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/symbols/sourcemap"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestSymbolicatedThereAndBack: Sentry symbolicates itself, so that it gets the frames of the SDK after the processor symbolicate has renamed all
// of them.
func TestSymbolicatedThereAndBack(t *testing.T) {
	renamed := 0
	afterTranslation = func(p pprofile.Profiles) pprofile.Profiles {
		renamed += symbolicate.Profiles(p, everything{p.Dictionary()})[symbols.OK]
		return p
	}
	defer func() { afterTranslation = func(p pprofile.Profiles) pprofile.Profiles { return p } }()
	counts := map[string]int{}
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil {
			thereAndBack(t, c.Name, c.Envelope, counts)
		}
	}
	t.Log("cases", counts, "renamed frames", renamed)
	require.Greater(t, counts["chunks"], 80)
	require.Greater(t, renamed, 300)
}

// everything has a source map with another name and place for each frame. Profiles of node have paths, and lines of callers: their map has one
// line. A ProGuard mapping renames all classes.
type everything struct{ pprofile.ProfilesDictionary }

func (e everything) Mapping(string) (*proguard.Mapping, symbols.Status) {
	text := "renamed.None -> none:\n"
	for _, a := range e.AttributeTable().All() {
		if class := a.Value().AsString(); e.StringTable().At(int(a.KeyStrindex())) == semconv.SentryFrameModule {
			text += "renamed." + class + " -> " + class + ":\n"
		}
	}
	m, err := proguard.Read(strings.NewReader(text))
	if err != nil {
		panic(err)
	}
	return m, symbols.OK
}

func (everything) Script(id symbolicate.ScriptID) (*sourcemap.File, symbols.Status) {
	if strings.Contains(id.URL, "://") {
		return pageFile(), symbols.OK
	}
	return nodeFile(), symbols.OK
}

var (
	pageFile = sync.OnceValue(func() *sourcemap.File { return fileOf(5000) })
	nodeFile = sync.OnceValue(func() *sourcemap.File { return fileOf(1) })
)

func fileOf(lines int) *sourcemap.File {
	m, err := sourcemap.Read([]byte(`{"version":3,"sources":["other.ts"],"mappings":"` + strings.Repeat("AAAA;", lines) + `"}`))
	if err != nil {
		panic(err)
	}
	return sourcemap.NewFile(m, "function other(){"+strings.Repeat("\n", lines)+"}")
}
