// SPDX-License-Identifier: Apache-2.0

package relaytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// keptPlaces are the texts of an event and of a transaction that Sentry's default rules keep.
var keptPlaces = map[string][]string{
	`{"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","timestamp":1777629600.5,"platform":"python","logentry":{},"fingerprint":[""],
		"exception":{"values":[{"type":"E","stacktrace":{"frames":[{"function":"f","lineno":1,"data":{}},{"function":"g","lineno":2,"data":{}}]}},{"type":"E","mechanism":{"type":"m"}}]},
		"threads":{"values":[{"id":1,"stacktrace":{"frames":[{"function":"f","lineno":1}]}}]}}`: {
		"logentry.message", "logger", "transaction", "culprit", "fingerprint.0",
		"exception.values.0.value", "exception.values.1.value", "exception.values.0.type", "exception.values.0.module", "exception.values.1.module",
		"exception.values.0.stacktrace.frames.0.function", "exception.values.0.stacktrace.frames.0.raw_function", "exception.values.0.stacktrace.frames.0.module", "exception.values.0.stacktrace.frames.0.package",
		"exception.values.0.stacktrace.frames.0.filename", "exception.values.0.stacktrace.frames.0.abs_path", "exception.values.0.stacktrace.frames.0.symbol", "exception.values.0.stacktrace.frames.0.data.sourcemap",
		"exception.values.0.stacktrace.frames.1.function", "exception.values.0.stacktrace.frames.1.module", "exception.values.0.stacktrace.frames.1.context_line", "exception.values.0.stacktrace.frames.1.filename",
		"threads.values.0.name", "threads.values.0.stacktrace.frames.0.function", "threads.values.0.stacktrace.frames.0.module", "threads.values.0.stacktrace.frames.0.package", "threads.values.0.stacktrace.frames.0.filename",
	},
	`{"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","type":"transaction","start_timestamp":1777629599.5,"timestamp":1777629600.5,"platform":"python",
		"contexts":{"trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","op":"db","data":{}}},
		"spans":[{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"7f1b2c3d4e5f6071","parent_span_id":"6f1b2c3d4e5f6071","op":"db","start_timestamp":1777629599.5,"timestamp":1777629600.5,"data":{}},
			{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"8f1b2c3d4e5f6071","parent_span_id":"6f1b2c3d4e5f6071","op":"db.query","start_timestamp":1777629599.5,"timestamp":1777629600.5,"data":{}}]}`: {
		"transaction", "spans.0.description", "spans.1.description", "spans.0.data.code.function", "spans.0.data.code.namespace", "spans.0.data.code.filepath",
	},
}

// placeTexts match texts as SDKs send them in places that have a form.
var placeTexts = map[string]*regexp.Regexp{
	"type":     regexp.MustCompile(`^[\w.$:\\]*[a-z]$|^[<#+-]`),
	"filename": regexp.MustCompile(`^\S+\.\w+$|^shop|^Shop|^[*%\w]+\S*$`), "abs_path": regexp.MustCompile(`^\S+$`),
}

// TestNamesStay: names of code and statements of SQL that mention sensitive words stay wherever
// Sentry's own scrubber keeps them.
func TestNamesStay(t *testing.T) {
	scrubber, err := scrub.New(scrub.DefaultConfig())
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(41, 41))
	rounds := 40
	if testsize.Full() {
		rounds = 200
	}
	for name, texts := range generators() {
		t.Run(name, func(t *testing.T) {
			var events [][]byte
			var planted []map[string]string
			for range rounds {
				for _, document := range slices.Sorted(maps.Keys(keptPlaces)) {
					at := map[string]string{}
					event := document
					for _, place := range keptPlaces[document] {
						if strings.HasPrefix(name, "SQL: ") == !strings.Contains(place, "description") && place != "exception.values.0.value" && place != "logentry.message" {
							continue
						}
						text := texts(random)
						for suits := placeTexts[place[strings.LastIndexByte(place, '.')+1:]]; suits != nil && !suits.MatchString(text); {
							text = texts(random)
						}
						at[place] = text
						event = string(edited(event, path(place), at[place]))
					}
					if system := dialects[strings.TrimPrefix(name, "SQL: ")].system; system != "" && strings.Contains(event, `"spans"`) {
						event = string(edited(event, path("spans.0.data.db.system"), system))
						event = string(edited(event, path("spans.1.data.db.system"), system))
					}
					events, planted = append(events, []byte(event)), append(planted, at)
				}
			}
			judged := make([][2]json.RawMessage, len(events))
			if os.Getenv("RELAY_PYTHON") != "" {
				judged = Strip(t, events)
			}
			values, damaged := 0, map[string][]string{}
			for i, event := range events {
				before, after := strings.Join(stringsOf(output(t, event, nil)), "\n"), strings.Join(stringsOf(output(t, event, scrubber)), "\n")
				for place, text := range planted[i] {
					values++
					if judged[i][1] != nil {
						assert.Equal(t, strings.Count(string(judged[i][0]), quoted(text)), strings.Count(string(judged[i][1]), quoted(text)), "%s: Sentry keeps %q", place, text)
					}
					if strings.Count(after, text) != strings.Count(before, text) || !strings.Contains(before, text) {
						damaged[place] = append(damaged[place], text)
					}
				}
			}
			n := 0
			for place, texts := range damaged {
				n += len(texts)
				slices.Sort(texts)
				t.Errorf("%s: %d damaged: %q", place, len(texts), slices.Compact(texts)[:min(3, len(slices.Compact(texts)))])
			}
			t.Logf("%d values, %d damaged", values, n)
		})
	}
}

func generators() map[string]func(*rand.Rand) string {
	all := map[string]func(*rand.Rand) string{}
	for name, templates := range codeNames {
		all[name] = func(random *rand.Rand) string { return codeName(random, templates[random.IntN(len(templates))]) }
	}
	for name, d := range dialects {
		all["SQL: "+name] = d.statement
	}
	return all
}

func path(place string) []string {
	if before, key, is := strings.Cut(place, ".data."); is {
		return append(strings.Split(before, "."), "data", key)
	}
	return strings.Split(place, ".")
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }

// stringsOf returns the strings of JSON documents.
func stringsOf(documents []byte) (all []string) {
	decoder := json.NewDecoder(strings.NewReader(string(documents)))
	for {
		token, err := decoder.Token()
		if err != nil {
			return all
		}
		if text, is := token.(string); is {
			all = append(all, text)
		}
	}
	return all
}
