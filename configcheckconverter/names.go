// SPDX-License-Identifier: Apache-2.0

package configcheckconverter

import (
	"fmt"
	"maps"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

var (
	sections = []string{"connectors", "exporters", "extensions", "processors", "receivers", "service"}
	signals  = []string{"logs", "metrics", "profiles", "traces"}
)

// misspelled returns an error for each name of a section, a signal or a component that does not
// exist, but resembles one that does. The collector reports the others.
func misspelled(whole map[string]any) (problems []error) {
	check := func(path, name string, known []string) {
		if near := collector.Nearest(name, known); near != "" && !slices.Contains(known, name) {
			problems = append(problems, fmt.Errorf("%s: %q does not exist; did you mean %q?", path, name, near))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		check("configuration", name, sections)
	}
	known := func(section string) []string { return slices.Sorted(maps.Keys(mapAt(whole, section))) }
	for _, id := range texts(at(whole, "service", "extensions")) {
		check("service::extensions", id, known("extensions"))
	}
	pipelines := mapAt(whole, "service", "pipelines")
	for _, id := range slices.Sorted(maps.Keys(pipelines)) {
		path := "service::pipelines::" + id
		check(path, typeOf(id), signals)
		for _, section := range []string{"receivers", "processors", "exporters"} {
			all := known(section)
			if section != "processors" {
				all = append(all, known("connectors")...)
			}
			for _, id := range texts(at(pipelines[id], section)) {
				check(path+"::"+section, id, all)
			}
		}
	}
	return problems
}
