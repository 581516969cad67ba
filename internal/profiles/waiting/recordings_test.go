// SPDX-License-Identifier: Apache-2.0

package waiting_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// leaf is an innermost function of recorded samples.
type leaf struct{ scope, name, file string }

func (l leaf) String() string { return strings.TrimPrefix(l.scope+" "+l.name, " ") }

// observed states how often a function is innermost, and what the table says about it.
type observed struct {
	samples int64
	waits   bool
	own     bool // it is of the application
}

// recordedLeaves returns the innermost functions of the recorded profiles, by SDK without versions.
func recordedLeaves(t *testing.T) map[string]map[leaf]*observed {
	all, taken := map[string]map[leaf]*observed{}, map[string]int{}
	for _, request := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue // store and security requests
		}
		version, _, _ := strings.Cut(request.Name, "/")
		sdk := version[:strings.LastIndex(version, "-")]
		for _, item := range envelope.Items {
			if item.Header.Type != sentry.ItemProfile && item.Header.Type != sentry.ItemProfileChunk {
				continue
			}
			key := version + string(item.Header.Type)
			if !testsize.Full() && (len(item.Payload) > golden.SmallPayload || taken[key] == 2) {
				continue
			}
			taken[key]++
			if all[sdk] == nil {
				all[sdk] = map[leaf]*observed{}
			}
			message := translated(t, item)
			observe(timelinetest.Read(message.Dictionary(), timelinetest.Profile(message)), all[sdk])
		}
	}
	return all
}

func translated(t *testing.T, item sentry.Item) pprofile.Profiles {
	d := profile.AcquireDecoder()
	defer d.Release()
	source := fromsentry.Source{ProjectID: "4507", PeriodType: "wall"}
	if item.Header.Type == sentry.ItemProfile {
		profile, err := d.Profile(item.Payload)
		require.NoError(t, err)
		return fromsentry.ProfileToProfiles(profile, source)
	}
	chunk, err := d.Chunk(item.Payload)
	require.NoError(t, err)
	return fromsentry.ChunkToProfiles(chunk, source)
}

func observe(p *timeline.Profile, leaves map[leaf]*observed) {
	for _, sample := range p.Selected(timeline.Filter{}) {
		stack := p.Stacks[sample.Stack]
		if len(stack) == 0 {
			continue
		}
		frame := p.Frames[p.Locations[stack[0]].Lines[0].Frame]
		key := leaf{frame.Module, frame.Name, frame.File}
		if leaves[key] == nil {
			leaves[key] = &observed{waits: p.Waits(sample.Stack), own: frame.InApp == timeline.InAppYes}
		}
		leaves[key].samples += sample.Count
	}
}

// documented are functions that wait, as the documentation of their runtime says: by SDK, scope and
// name. The list was made from the documentation, not from the table.
func documented(t *testing.T) map[string]bool {
	file, err := os.Open("testdata/documented.tsv")
	require.NoError(t, err)
	defer file.Close()
	list := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") || lines.Text() == "" {
			continue
		}
		cells := strings.Split(lines.Text(), "\t")
		require.Len(t, cells, 4, lines.Text())
		require.NotEmpty(t, cells[3], "source of %s", lines.Text())
		for _, name := range strings.Fields(cells[2]) {
			list[cells[0]+" "+cells[1]+" "+name] = true
		}
	}
	return list
}

// isDocumented reports whether the documentation says that a function waits. Profilers report
// methods with or without their class.
func isDocumented(list map[string]bool, sdk string, l leaf) bool {
	name := l.name[strings.LastIndexAny(l.name, ".:#")+1:]
	class := strings.TrimRight(l.name[:len(l.name)-len(name)], ".:#")
	module := strings.TrimSuffix(path.Base(l.file), path.Ext(l.file))
	for _, scope := range []string{l.scope, module, class, strings.TrimPrefix(l.scope+"."+class, ".")} {
		if scope != "" && list[sdk+" "+scope+" "+name] {
			return true
		}
	}
	return false
}

// TestRecordings measures the table with the documented functions: precision is the part of the
// samples that it calls waiting that do, recall the part of the waiting samples that it finds. No
// function of an application waits. README.md of the viewer states the results in full size.
func TestRecordings(t *testing.T) {
	list, all := documented(t), recordedLeaves(t)
	for _, sdk := range slices.Sorted(maps.Keys(all)) {
		var right, wrong, missed int64
		functions := map[string][]string{}
		for l, o := range all[sdk] {
			waits := isDocumented(list, sdk, l)
			text := fmt.Sprint(l, " ", o.samples)
			switch {
			case o.waits && waits:
				right += o.samples
				functions["right"] = append(functions["right"], text)
			case o.waits:
				wrong += o.samples
				functions["wrong"] = append(functions["wrong"], text)
			case waits:
				missed += o.samples
				functions["missed"] = append(functions["missed"], text)
			}
			assert.False(t, o.waits && o.own && !waits, "%s: %s is of the application", sdk, l)
		}
		t.Logf("%-26s %6d waiting, precision %.3f, recall %.3f; functions: %d right, wrong %v, missed %v", sdk, right+missed,
			part(right, right+wrong), part(right, right+missed), len(functions["right"]), functions["wrong"], functions["missed"])
		assert.GreaterOrEqual(t, part(right, right+wrong), 0.99, "precision for %s: %v", sdk, functions["wrong"])
		assert.GreaterOrEqual(t, part(right, right+missed), 0.99, "recall for %s: %v", sdk, functions["missed"])
	}
}

func part(n, of int64) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}
