// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// The documented differences of a round trip, in a second, slow implementation.

// expectedPart is an expected chunk.
type expectedPart struct {
	samples      []sentrytest.Sample
	closing      int // number of samples that were not in the original
	measurements []profile.Measurement
}

// partsToExpect splits the samples at one minute, and adds the closing samples of threads.
func (s said) partsToExpect() (parts []expectedPart, lost map[discard.Reason]int) {
	const minute, period = 60_000_000_000, 9_900_990
	lost = map[discard.Reason]int{}
	all := slices.Clone(s.samples)
	slices.SortStableFunc(all, func(a, b sentrytest.Sample) int { return cmp.Compare(a.Time, b.Time) })
	for from := 0; from < len(all); {
		end := all[from].Time + minute
		to := from
		for to < len(all) && all[to].Time < end {
			to++
		}
		part := expectedPart{samples: slices.Clone(all[from:to])}
		for _, thread := range threadsOf(all[from:to]) {
			active, last := -1, -1
			count := 0
			for i := from; i < to; i++ {
				if all[i].Thread != thread {
					continue
				}
				last = i
				if len(all[i].Stack) > 0 {
					active = i
					count++
				}
			}
			next := slices.IndexFunc(all[active+1:], func(o sentrytest.Sample) bool { return o.Thread == thread })
			if goesOn := next >= 0 && active+1+next >= to; count == 1 || count > 1 && active == last && goesOn {
				closing := all[active]
				closing.Time = min(closing.Time+period, end)
				if next >= 0 {
					closing.Time = min(closing.Time, all[active+1+next].Time)
				}
				part.samples = append(part.samples, closing)
				part.closing++
			}
		}
		first, last := len(parts) == 0, to == len(all)
		for _, m := range s.chunk.Measurements {
			of := profile.Measurement{Name: m.Name, Unit: m.Unit}
			for _, v := range m.Values {
				begin, over := float64(all[from].Time)/1e9, math.Inf(1)
				if !last {
					over = float64(all[to].Time) / 1e9
				}
				if (first || v.Timestamp >= begin) && v.Timestamp < over {
					of.Values = append(of.Values, v)
				}
			}
			if first || len(of.Values) > 0 {
				part.measurements = append(part.measurements, of)
			}
		}
		if slices.ContainsFunc(part.samples, func(o sentrytest.Sample) bool { return len(o.Stack) > 0 }) {
			parts = append(parts, part)
		} else {
			lost[discard.ReasonNotEnoughSamples] += to - from
		}
		from = to
	}
	return parts, lost
}

func threadsOf(samples []sentrytest.Sample) (threads []string) {
	seen := map[string]bool{}
	for _, s := range samples {
		if !seen[s.Thread] {
			seen[s.Thread] = true
			threads = append(threads, s.Thread)
		}
	}
	return threads
}

// stackNumbers numbers distinct stacks, to keep lines short.
type stackNumbers map[string]int

func (n stackNumbers) of(text string) int {
	number, known := n[text]
	if !known {
		number = len(n) + 1
		n[text] = number
	}
	return number
}

func sampleLines(samples []sentrytest.Sample, stacks stackNumbers) (lines []string) {
	known := map[*sentrytest.Frame]int{} // stacks of one payload share their frames
	for _, s := range samples {
		number := 0
		if len(s.Stack) > 0 {
			if number = known[&s.Stack[0]]; number == 0 {
				number = stacks.of(s.StackText())
				known[&s.Stack[0]] = number
			}
		}
		priority := s.Priority
		if _, err := strconv.ParseUint(priority, 10, 32); err != nil { // ingest would reject the chunk
			priority = ""
		}
		lines = append(lines, fmt.Sprintf("%d thread %q %q %s stack %d", s.Time, s.Thread, s.ThreadName, priority, number))
	}
	return lines
}

// measurementLines omits measurements for which ingest would reject the chunk.
func measurementLines(series []profile.Measurement) (lines []string) {
	for _, m := range series {
		if !slices.Contains(fakesentry.MeasurementUnits, m.Unit) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%q in %s", m.Name, m.Unit))
		for _, v := range m.Values {
			if sum := v.Timestamp + v.Value; !math.IsInf(sum, 0) && !math.IsNaN(sum) {
				lines = append(lines, fmt.Sprintf("%q at %v: %v", m.Name, v.Timestamp, v.Value))
			}
		}
	}
	return lines
}

// imageLines replaces types that ingest rejects with "symbolic", and omits IDs that it cannot read
// and images without an ID. Of two images with the same ID and address, it keeps the first.
func imageLines(images []profile.Image) (lines []string) {
	known := map[string]bool{}
	for _, image := range images {
		if image.Type == "elf" && image.DebugID == "" {
			image.DebugID = profile.ELFDebugID(image.CodeID) // see TestDebugIDs
		}
		if !slices.Contains(fakesentry.ImageTypes, image.Type) {
			image.Type = "symbolic"
		}
		if !fakesentry.DebugID.MatchString(image.DebugID) {
			image.DebugID = ""
		}
		if !regexp.MustCompile(`^(?i)([0-9a-f]{32}|[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12})$`).MatchString(image.UUID) {
			image.UUID = ""
		}
		if image.DebugID == "" && image.UUID == "" {
			continue
		}
		if place := fmt.Sprint(image.DebugID, image.Addr.Value); image.DebugID != "" && image.Addr.Set {
			if known[place] {
				continue
			}
			known[place] = true
		}
		lines = append(lines, fmt.Sprintf("%s %q code %q debug %q %q uuid %q %q at %d %d size %d", image.Type, image.CodeFile, image.CodeID,
			image.DebugFile, image.DebugID, image.UUID, image.Arch, image.Addr.Value, image.VMAddr.Value, image.Size.Value))
	}
	return lines
}

func requireSameLines(t *testing.T, name string, want, got []string, stacks stackNumbers) {
	t.Helper()
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return
	}
	for i := range max(len(want), len(got)) {
		w, g := lineAt(want, i), lineAt(got, i)
		if w == g {
			continue
		}
		texts := map[string]string{}
		for text, number := range stacks {
			texts["stack "+strconv.Itoa(number)] = text
		}
		stackOf := func(line string) string { return texts[line[max(0, strings.LastIndex(line, "stack ")):]] }
		require.Failf(t, "another chunk came back", "%s: %d lines, want %d; the first that differs\nwant %s\n%s\ngot  %s\n%s",
			name, len(got), len(want), w, stackOf(w), g, stackOf(g))
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(none)"
}

// headText returns the fields of a returned chunk outside of its profile: IDs are in Sentry's form,
// and missing required fields have defaults.
func headText(c *profile.Chunk) string {
	return headTextLike(c, c)
}

// headTextLike omits the fields that have a default because the original was missing or not an ID.
func headTextLike(c, sent *profile.Chunk) string {
	simple := func(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }
	text := fmt.Sprintf("release %q dist %q", c.Release, c.Dist)
	if sent.Environment != "" || !strings.HasPrefix(sent.ClientSDK.Name, "sentry.javascript.") { // whose default is made explicit
		text += fmt.Sprintf(" environment %q", c.Environment)
	}
	for _, id := range [][2]string{{c.ProfilerID, sent.ProfilerID}, {c.ChunkID, sent.ChunkID}} {
		if fakesentry.ID.MatchString(simple(id[1])) && strings.Trim(id[1], "0-") != "" {
			text += " id " + simple(id[0])
		}
	}
	if regexp.MustCompile(`^[a-zA-Z0-9._-]{1,64}$`).MatchString(sent.Platform) {
		text += " platform " + c.Platform
	}
	if sent.ClientSDK.Name != "" {
		text += " sdk " + c.ClientSDK.Name
	}
	if sent.ClientSDK.Name != "" && sent.ClientSDK.Version != "" {
		text += " " + c.ClientSDK.Version
	}
	return text
}
