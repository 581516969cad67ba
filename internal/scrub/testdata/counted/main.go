// SPDX-License-Identifier: Apache-2.0

// Command counted measures how the work of scrubbing grows. It must be built with -cover and
// -covermode=atomic. It reads a list of texts as JSON. For each of them, repeated, at each place,
// it prints by how much twice the size multiplies the number of executed blocks.
package main

import (
	"encoding/json"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
)

const (
	small = 8 << 10 // bytes
	large = 128 << 10

	// step is the growth above which a text is measured again at larger sizes. Regular expressions
	// switch to a more expensive algorithm above some size; only growth that persists is a defect.
	step = 2.3
)

// growth is a result.
type growth struct {
	Place, Settings, Text string
	Nested                bool
	Factor                float64
}

func main() {
	var units []string
	if err := json.NewDecoder(os.Stdin).Decode(&units); err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	every := scrub.DefaultConfig()
	every.SQLLiterals, every.UserPaths, every.SafeFields, every.SensitiveFields = true, true, []string{"a.**.b", "author"}, []string{"sku"}
	every.PIIConfig = `{"applications":{"$string":["@email","@mac"],"**.a":["@anything:hash"],"$span.data.'a'":["@uuid"]}}`
	for settings, config := range map[string]scrub.Config{"default": scrub.DefaultConfig(), "all": every} {
		s, err := scrub.New(config)
		if err != nil {
			log.Fatal(err)
		}
		for place, name := range slices.Sorted(maps.Keys(places)) {
			put := places[name]
			put(s, strings.Repeat("x", small)) // fills the caches
			for i, unit := range units {
				if settings == "all" && i%3 != place%3 {
					continue // the default has each text at each place
				}
				measure := func(size int) float64 {
					text := strings.Repeat(unit, size/len(unit))
					return counted.Blocks(func() { put(s, text) })
				}
				factor := measure(2*small) / measure(small)
				for size := 4 * small; factor > step && size <= large; size *= 4 {
					factor = measure(2*size) / measure(size)
				}
				_ = out.Encode(growth{Place: name, Settings: settings, Text: unit, Factor: factor})
			}
		}
		for name, nest := range nests {
			measure := func(depth int) float64 {
				value := any("x")
				for range depth {
					value = nest(value)
				}
				return counted.Blocks(func() { scrubAttribute(s, "anything", value) })
			}
			_ = out.Encode(growth{Place: name, Settings: settings, Nested: true, Factor: measure(16) / measure(8)})
		}
	}
}

// nests put a value into another.
var nests = map[string]func(any) any{
	"lists":   func(v any) any { return []any{v} },
	"objects": func(v any) any { return map[string]any{"a": v} },
	"pairs":   func(v any) any { return []any{"a", v} },
	"values":  func(v any) any { return map[string]any{"name": "a", "value": v} },
	"headers": func(v any) any { return []any{"X-A", "b", "X-C", v} },
}

// places put a text into data of a Scrubber.
var places = map[string]func(*scrub.Scrubber, string){
	"key":      func(s *scrub.Scrubber, text string) { scrubAttribute(s, text, "v") },
	"long key": func(s *scrub.Scrubber, text string) { scrubAttribute(s, "http.request.header."+text, "v") },
	"full":     func(s *scrub.Scrubber, text string) { scrubAttribute(s, "anything", text) },
	"url":      func(s *scrub.Scrubber, text string) { scrubAttribute(s, "url.full", text) },
	"query":    func(s *scrub.Scrubber, text string) { scrubAttribute(s, "db.query.text", "SELECT "+text) },
	"text":     func(s *scrub.Scrubber, text string) { scrubAttribute(s, "os.name", text) },
	"location": func(s *scrub.Scrubber, text string) { scrubAttribute(s, "code.file.path", text) },
	"cookies":  func(s *scrub.Scrubber, text string) { scrubAttribute(s, "my.cookies", text) },
	"bytes":    func(s *scrub.Scrubber, text string) { scrubAttribute(s, "anything", []byte(text)) },
	"member": func(s *scrub.Scrubber, text string) {
		scrubAttribute(s, "anything", map[string]any{text: "v", "a": text})
	},
	"name of pair": func(s *scrub.Scrubber, text string) { scrubAttribute(s, "anything", []any{text, text}) },
	"name of value": func(s *scrub.Scrubber, text string) {
		scrubAttribute(s, "anything", map[string]any{"name": text, "value": "v"})
	},
	"code": func(s *scrub.Scrubber, text string) {
		scrubAttribute(s, "sentry.exceptions", []any{map[string]any{"context_line": text, "value": text}})
	},
	"elements": func(s *scrub.Scrubber, text string) {
		var list []any
		for i := 0; i+16 <= len(text); i += 16 {
			list = append(list, text[i:i+16])
		}
		scrubAttribute(s, "anything", []any{list, list})
	},
	"message": func(s *scrub.Scrubber, text string) {
		logs := plog.NewLogs()
		logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(text)
		s.Logs(logs)
	},
	"span name": func(s *scrub.Scrubber, text string) {
		traces := ptrace.NewTraces()
		traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName(text)
		s.Traces(traces)
	},
}

func scrubAttribute(s *scrub.Scrubber, key string, value any) {
	traces := ptrace.NewTraces()
	attributes := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().Attributes()
	_ = attributes.PutEmpty(key).FromRaw(value)
	s.Traces(traces)
}
