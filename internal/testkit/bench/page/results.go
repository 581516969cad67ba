// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// results is the parsed output of a run.
type results struct {
	config map[string][]string // configuration lines: all values of each key
	values map[key][]float64
	data   map[string][]string // by benchmark, in the order of the output
}

type key struct{ benchmark, unit, data string }

func (k key) String() string { return strings.TrimSpace(k.benchmark + " " + k.unit + " " + k.data) }

func readResults(file string) (*results, error) {
	r := &results{config: map[string][]string{}, values: map[key][]float64{}, data: map[string][]string{}}
	files := benchfmt.Files{Paths: []string{file}}
	for files.Scan() {
		line, ok := files.Result().(*benchfmt.Result)
		if !ok {
			continue // not a benchmark
		}
		for _, c := range line.Config {
			if !slices.Contains(r.config[c.Key], string(c.Value)) {
				r.config[c.Key] = append(r.config[c.Key], string(c.Value))
			}
		}
		name, parts := line.Name.Parts()
		benchmark, data := string(name), strings.TrimPrefix(string(parts[0]), "/")
		if !slices.Contains(r.data[benchmark], data) {
			r.data[benchmark] = append(r.data[benchmark], data)
		}
		for _, v := range line.Values {
			k := key{benchmark, v.Unit, data}
			r.values[k] = append(r.values[k], v.Value)
		}
	}
	return r, files.Err()
}

// result is a figure for one payload.
type result struct {
	figure
	data string
	*benchmath.Sample
}

// all returns the results in the order of the figures.
func (r *results) all() (all []result) {
	for _, f := range figures {
		for _, data := range r.data[f.benchmark] {
			if values := r.values[key{f.benchmark, f.unit, data}]; len(values) > 0 {
				all = append(all, result{f, data, benchmath.NewSample(values, &benchmath.DefaultThresholds)})
			}
		}
	}
	return all
}

// complete reports whether exactly the expected figures were measured.
func (r *results) complete() error {
	listed, measured := map[key]bool{}, map[key]bool{}
	for _, f := range figures {
		listed[key{f.benchmark, f.unit, ""}] = true
	}
	for k := range r.values {
		k.data = ""
		measured[k] = true
		if !listed[k] {
			return fmt.Errorf("%s is measured, and not in the list of figures", k)
		}
	}
	for k := range listed {
		if !measured[k] && !slices.Contains(optional, k.unit) {
			return fmt.Errorf("%s is in the list of figures, and was not measured", k)
		}
	}
	return nil
}

func (r result) key() key { return key{r.benchmark, r.unit, r.data} }

func (r result) median() float64 { return benchmath.AssumeNothing.Summary(r.Sample, 0.95).Center }

// String returns the machine and the time of the run.
func (r *results) String() string {
	value := func(key string) string { return strings.Join(r.config[key], ", ") }
	runs := 0
	for _, values := range r.values {
		runs = max(runs, len(values))
	}
	text := fmt.Sprintf("%s, commit %s: %s %s/%s on %s, %s cores, %d runs", value("date"), value("commit"), value("go"), value("goos"),
		value("goarch"), value("cpu"), value("cores"), runs)
	if loads := r.config["load"]; len(loads) > 0 {
		text += fmt.Sprintf("; one-minute load average from %s to %s", slices.MinFunc(loads, byNumber), slices.MaxFunc(loads, byNumber))
	}
	return text
}

func byNumber(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return cmp.Compare(x, y)
}
