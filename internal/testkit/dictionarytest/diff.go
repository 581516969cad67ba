// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Diff returns the first difference in content between two messages, or "" if there is none. The
// order of the dictionary's tables, of attributes and of samples does not matter, and neither do
// unused entries; the order of resources, scopes, profiles, timestamps and frames does.
//
// The result has the form of [Dump], with the lines before the difference, "-" for want and "+" for
// got.
func Diff(want, got pprofile.Profiles) string {
	a, b := comparableText(want), comparableText(got)
	if a == b {
		return ""
	}
	return firstDifference(strings.Split(strings.TrimSuffix(a, "\n"), "\n"), strings.Split(strings.TrimSuffix(b, "\n"), "\n"))
}

func comparableText(p pprofile.Profiles) string {
	d := dumper{dict: p.Dictionary(), view: dictionary.NewView(p.Dictionary()), compare: true}
	d.message(p)
	return d.out.String()
}

// contextLines are printed before and after the first difference: enough to see its sample.
const contextLines = 6

func firstDifference(want, got []string) string {
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	var out strings.Builder
	fmt.Fprintf(&out, "first difference in line %d:\n", i+1)
	for _, line := range want[max(0, i-contextLines):i] {
		fmt.Fprintf(&out, "  %s\n", line)
	}
	for _, line := range want[i:min(len(want), i+contextLines)] {
		fmt.Fprintf(&out, "- %s\n", line)
	}
	for _, line := range got[i:min(len(got), i+contextLines)] {
		fmt.Fprintf(&out, "+ %s\n", line)
	}
	return out.String()
}
