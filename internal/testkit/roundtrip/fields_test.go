// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// envelope returns the item in an envelope.
func (w wholeItem) envelope(t *testing.T, payload string) *sentry.Envelope {
	header := sentry.ItemHeader{Type: w.kind, ContentType: w.contentType}
	if w.elements > 0 {
		header.ItemCount = jsonscan.Some(w.elements)
	}
	require.True(t, json.Valid([]byte(payload)), payload)
	return &sentry.Envelope{Items: []sentry.Item{{Header: header, Payload: []byte(payload)}}}
}

// thereAndBack sends a payload to OTLP and back.
func (w wholeItem) thereAndBack(t *testing.T, payload string) (profilefile.ExaminedItem, []tosentry.Outgoing) {
	settings := sentryitems.DefaultSettings()
	settings.IncludePII = true
	item := profilefile.Examine(w.envelope(t, payload), settings, time.Unix(1_795_225_000, 0)).Items[0]
	require.Nil(t, item.Unusable, "%s", payload)
	var back []tosentry.Outgoing
	for _, delivery := range item.Deliveries {
		back = append(back, translated(delivery.Message.Data(), w.contentType != "").Items...)
	}
	return item, back
}

// name of an item in the table of differences.
func (w wholeItem) name() string {
	if w.kind == sentry.ItemSpan && w.contentType == "" {
		return string(standaloneSpan)
	}
	return string(w.kind)
}

// difference is a field that comes back in another place or form, or not at all.
type difference struct {
	items  string // types
	path   string // regular expression
	reason string
}

var differences = []difference{
	{"event", `^/type = `, "ingest infers it"},
	{"event,feedback,transaction", `^/version = `, "of the protocol, always 7"},
	{"event,feedback,transaction", `^/contexts/trace/type = `, "the name of the context"},
	{"feedback", `^/logentry/`, "the text of feedback is contexts.feedback.message"},
	{"feedback", `^/contexts/(replay|feedback)/replay_id = `, "feedback has it in its own context"},

	{"transaction", `^/contexts/profile/type = `, "the name of the context"},
	{"transaction", `^/(contexts/profile|contexts/trace|spans\[000000\])/profile_id = `, "the ID of a V1 profile is sent as that of the profiler, unless there is one"},
	{"transaction", `^/(contexts/trace|spans\[000000\])/profiler_id = `, "sent once, in contexts.profile"},
	{"transaction", `^/(contexts/trace|spans\[000000\])/(is_segment|segment_id) = `, "implied by the transaction"},
	{"transaction", `^/(contexts/trace|spans\[000000\])/same_process_as_parent = `, "always true"},
	{"transaction", `^/spans\[000000\]/type = `, "of a context only"},
	{"transaction", `^(/contexts/trace)?/(tags/spantag|measurements/lcp/(unit|value)) = `, "those of the root are sent on the transaction"},
	{"transaction", `^/contexts/(response|trace/data/http\.response\.)`, "the response is sent in the data of the root"},
	{"transaction", `^/contexts/trace/data/(http\.request|url)\.`, "the request is repeated in the data of the root"},

	{"standalone span", `^/(transaction|description|type|event_id|is_segment|segment_id|same_process_as_parent|sdk/(name|version)|(contexts/profile/)?profile(r)?_id) = `, "comes back as a transaction"},

	{"event,feedback,transaction,standalone span", `^/sdk/settings/infer_ip = `, "never: the receiver has done it"},

	{"span,log,trace_metric", `^/(version|ingest_settings/infer_ip|ingest_settings/infer_user_agent) = `, "instructions for Sentry's server"},
	{"span,log,trace_metric", `^/items\[000000\]/attributes/sentry\.platform/`, "added: the resource has that of the SDK"},
	{"span", `^/items\[000000\]/(attributes/sentry\.)?(kind|is_remote)`, "attributes since the drafts of the format"},
	{"span", `^/items\[000000\]/attributes/sentry\.segment\.(id|name)/`, "added if the segment is known"},

	{"check_in", `^/(type|event_id|modules/m|sdk/(integrations|packages)\[000000\](/name)?|contexts/trace/(op|parent_span_id|data/k)) = `, "ingest ignores them"},
	{"session", ``, "counted"},
	{"sessions", `^/(aggregates\[000000\]/did|attrs/(ip_address|user_agent)) = `, "the receiver keeps only counts"},
}

// TestEveryFieldComesBack sends an item with every field of each table to OTLP and back, and
// compares the JSON.
func TestEveryFieldComesBack(t *testing.T) {
	b := &builder{t, map[string]map[string]bool{}}
	items, used := b.wholeItems(), make([]bool, len(differences))
	for object, keys := range event.Schema() {
		for _, key := range keys {
			assert.True(t, b.built[object][key], "no item has the field %s of %q", key, object)
		}
	}
	for _, w := range items {
		item, back := w.thereAndBack(t, w.payload)
		assert.Empty(t, item.Fields, w.name())
		var got []string
		for _, outgoing := range back {
			if outgoing.Header.Type == w.kind || w.name() == string(standaloneSpan) {
				for _, line := range golden.JSONLines(outgoing.Payload) {
					if w.kind == sentry.ItemSpan {
						line = strings.TrimPrefix(line, "/contexts/trace")
						if slices.Contains(got, line) {
							continue // of the transaction and of its root
						}
					}
					got = append(got, line)
				}
			}
		}
		sent := golden.JSONLines([]byte(w.payload))
		for _, line := range append(without(sent, got, "-"), without(got, sent, "+")...) {
			i := slices.IndexFunc(differences, func(d difference) bool {
				return slices.Contains(strings.Split(d.items, ","), w.name()) && regexp.MustCompile(d.path).MatchString(line[1:])
			})
			if i >= 0 {
				used[i] = true
				continue
			}
			t.Errorf("%s: %s", w.name(), line)
		}
	}
	for i, d := range differences {
		assert.True(t, used[i], "%v: no difference any more", d)
	}
}

// without returns the lines that the others do not have, after a mark.
func without(lines, others []string, mark string) (only []string) {
	left := map[string]int{}
	for _, line := range others {
		left[line]++
	}
	for _, line := range lines {
		if left[line]--; left[line] < 0 {
			only = append(only, mark+line)
		}
	}
	return only
}

// TestAliases: the names of raven's interfaces are those of fields.
func TestAliases(t *testing.T) {
	w := (&builder{t, map[string]map[string]bool{}}).wholeItems()[0]
	_, back := w.thereAndBack(t, w.payload)
	want := golden.JSONLines(back[0].Payload)
	for key, alias := range map[string]string{
		"exception": "Exception", "logentry": "Message", "stacktrace": "Stacktrace", "template": "Template",
		"user": "User", "request": "Http", "contexts": "Contexts", "breadcrumbs": "Breadcrumbs",
	} {
		members := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal([]byte(w.payload), &members))
		members["sentry.interfaces."+alias] = members[key]
		delete(members, key)
		renamed, err := json.Marshal(members)
		require.NoError(t, err)
		item, back := w.thereAndBack(t, string(renamed))
		assert.Empty(t, item.Fields, alias)
		assert.Equal(t, want, golden.JSONLines(back[0].Payload), alias)
	}
}

// unlisted are the objects with members that are neither kept nor counted.
var unlisted = []difference{
	{"check_in", `^/(contexts/trace/|contexts/trace/data/|modules/|sdk/packages\[0\]/)$`, "ingest ignores them"},
}

// added is a member that is in no table.
const (
	added      = "field_of_tomorrow"
	addedValue = "its value"
)

// TestUnknownFieldsAreKeptOrCounted adds a field that is in no table to each object of each item.
func TestUnknownFieldsAreKeptOrCounted(t *testing.T) {
	used, objects, kept := make([]bool, len(unlisted)), 0, 0
	for _, w := range (&builder{t, map[string]map[string]bool{}}).wholeItems() {
		for path, payload := range withAdded(t, w.payload) {
			objects++
			item, back := w.thereAndBack(t, payload)
			found := slices.ContainsFunc(back, func(o tosentry.Outgoing) bool { return strings.Contains(string(o.Payload), addedValue) })
			counted := slices.ContainsFunc(item.Fields, func(f discard.Flaw) bool {
				return f.Field == event.FieldUnmapped && f.Count == 1 && strings.HasSuffix(f.Keys, added) || strings.HasSuffix(f.Field, "measurements") // no object
			})
			if found {
				kept++
			}
			if found != counted {
				continue
			}
			i := slices.IndexFunc(unlisted, func(d difference) bool {
				return slices.Contains(strings.Split(d.items, ","), w.name()) && regexp.MustCompile(d.path).MatchString(path)
			})
			if i >= 0 {
				used[i] = true
				continue
			}
			t.Errorf("%s: a field of %s is kept: %v, counted: %v", w.name(), path, found, counted)
		}
	}
	for i, d := range unlisted {
		assert.True(t, used[i], "%v: kept or counted now", d)
	}
	t.Log(objects, "objects,", kept, "with a field that is kept")
}

// withAdded returns copies of a payload, each with the member in another object, by its path.
func withAdded(t *testing.T, payload string) map[string]string {
	var value any
	decoder := json.NewDecoder(strings.NewReader(payload))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value))
	all := map[string]string{}
	var visit func(path string, value any)
	visit = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			v[added] = addedValue
			text, err := json.Marshal(value)
			require.NoError(t, err)
			all[path+"/"] = string(text)
			delete(v, added)
			for name, member := range v {
				visit(path+"/"+name, member)
			}
		case []any:
			for i, element := range v {
				visit(fmt.Sprintf("%s[%d]", path, i), element)
			}
		}
	}
	visit("", value)
	return all
}
