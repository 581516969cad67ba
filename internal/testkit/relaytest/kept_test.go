// SPDX-License-Identifier: Apache-2.0

package relaytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
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
	rounds := 15
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
						suits := placeTexts[place[strings.LastIndexByte(place, '.')+1:]]
						for tries := 0; suits != nil && !suits.MatchString(text) && tries < 100; tries++ {
							text = texts(random)
						}
						if suits != nil && !suits.MatchString(text) {
							continue
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
				t.Errorf("%s: %d damaged: %q", place, len(texts), slices.Compact(texts)[:min(5, len(slices.Compact(texts)))])
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
}

// TestAttributesStay: attributes of spans keep the texts that Sentry's own scrubber keeps.
func TestAttributesStay(t *testing.T) {
	scrubber, err := scrub.New(scrub.DefaultConfig())
	require.NoError(t, err)
	names, err := os.ReadFile(filepath.Join(golden.Root(t), "internal", "scrub", "names.txt"))
	require.NoError(t, err)
	for _, form := range []string{"%d: the password is x", "%d: from 10.1.2.3 to here"} {
		data := map[string]string{}
		for line := range strings.Lines(string(names)) {
			fields := strings.Fields(line)
			if fields[0] == "#" {
				continue
			}
			for _, name := range fields[2:] {
				data[strings.TrimPrefix(fields[1], ".")+name] = fmt.Sprintf(form, 100_000+len(data))
			}
		}
		encoded, err := json.Marshal(data)
		require.NoError(t, err)
		event := fmt.Appendf(nil, `{"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","type":"transaction","start_timestamp":1777629599.5,"timestamp":1777629600.5,
			"contexts":{"trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","op":"x"}},
			"spans":[{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"7f1b2c3d4e5f6071","op":"x","start_timestamp":1777629599.5,"timestamp":1777629600.5,"data":%s}]}`, encoded)
		judged := Strip(t, [][]byte{event})[0]
		before, after := string(output(t, event, nil)), string(output(t, event, scrubber))
		kept := 0
		for key, text := range data {
			if !strings.Contains(string(judged[1]), text) || !strings.Contains(before, text) {
				continue
			}
			kept++
			assert.Contains(t, after, text, key)
		}
		t.Logf("of %d attributes, Sentry keeps %d", len(data), kept)
		assert.Greater(t, kept, len(data)/5)
	}
}

// TestCorpusStays: in the events of the recordings and of the cases, no text changes that Sentry's
// own scrubber keeps, and none stays that it changes.
func TestCorpusStays(t *testing.T) {
	scrubber, err := scrub.New(scrub.DefaultConfig())
	require.NoError(t, err)
	var events [][]byte
	var names []string
	seen := 0
	add := func(name string, body []byte) {
		envelope, err := sentry.ReadEnvelope(body)
		if err != nil {
			return
		}
		for _, item := range envelope.Items {
			if seen++; !testsize.Full() && seen%4 != 0 {
				continue
			}
			if kind := string(item.Header.Type); (kind == "event" || kind == "transaction") && json.Valid(item.Payload) {
				events, names = append(events, item.Payload), append(names, name)
			}
		}
	}
	for _, r := range golden.Corpus(t) {
		add(r.Name, r.Decoded(t))
	}
	for _, c := range golden.Cases(t) {
		add(c.Name, c.Envelope)
	}
	texts, misses, added := 0, 0, differences{wanted: additions}
	for i, judged := range Strip(t, events) {
		before, after := texted(judged[0]), texted(judged[1])
		plain, clean := attributed(output(t, events[i], nil)), attributed(output(t, events[i], scrubber))
		for text, keys := range plain {
			texts++
			if len(clean[text]) == len(keys) || len(before[text]) == 0 || len(after[text]) < len(before[text]) {
				continue
			}
			added.add(specimen{text, names[i] + ": " + before[text][0]})
		}
		for text, places := range before {
			if len(after[text]) == 0 && len(clean[text]) > 0 && len(clean[text]) == len(plain[text]) && !fraction.MatchString(text) {
				misses++
				t.Errorf("%s: Sentry changes %q at %v", names[i], text, places)
			}
		}
	}
	t.Logf("%d events, %d texts: Sentry changes %d others", len(events), texts, misses)
	added.report(t, "only this package changes")
}

// fraction matches digits behind a decimal point, which Sentry replaces like a card number.
var fraction = regexp.MustCompile(`[0-9]\.[3-6][0-9]{13}`)

// texted returns the places of each text in a document.
func texted(document []byte) map[string][]string {
	all := map[string][]string{}
	var root any
	_ = json.Unmarshal(document, &root)
	for _, place := range leaves(root, nil) {
		at := root
		for _, key := range place {
			switch value := at.(type) {
			case map[string]any:
				at = value[key]
			case []any:
				index, _ := strconv.Atoi(key)
				at = value[index]
			}
		}
		text, _ := at.(string)
		all[text] = append(all[text], strings.Join(place, "."))
	}
	return all
}

// attributed returns the attributes in which each text of OTLP documents occurs.
func attributed(documents []byte) map[string][]string {
	all := map[string][]string{}
	decoder := json.NewDecoder(strings.NewReader(string(documents)))
	for decoder.More() {
		var document any
		if decoder.Decode(&document) != nil {
			break
		}
		attributes(document, "", all)
	}
	return all
}

func attributes(value any, key string, to map[string][]string) {
	switch value := value.(type) {
	case map[string]any:
		if name, is := value["key"].(string); is && key == "" {
			key = name
		}
		for _, member := range value {
			attributes(member, key, to)
		}
	case []any:
		for _, member := range value {
			attributes(member, key, to)
		}
	case string:
		to[value] = append(to[value], key)
	}
}
