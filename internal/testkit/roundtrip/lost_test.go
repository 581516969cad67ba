// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// entry is a group of members that do not come back.
type entry struct {
	items string // types
	path  *regexp.Regexp
}

// listed are the members that do not come back under their name. docs/mapping.md lists each of
// them.
var listed = func() (all []entry) {
	for _, e := range []struct{ items, path string }{
		{"check_in", `^/sdk/(packages|integrations)`},
		{"transaction", `^/_metrics_summary/`},
		{"transaction", `^/spans\[\]/same_process_as_parent$`},
		{"event", `^/type$`},
		{"event", `/frames\[\]/project_root$`},
		{"log,trace_metric,span", `^/version$|^/ingest_settings/`},
		{"event,feedback,transaction", `^/sdk/settings/infer_ip$`}, // never: the receiver has done it
		{"trace_metric", `^/items\[\]/unit$`},                      // none
		{"check_in", `^/(type$|event_id$|modules/|contexts/trace/(op|origin|data/))`},
		{"header span", `^trace_id$`}, // that of the spans
		{"header check_in,header log,header trace_metric", ``},

		// These come back in another member.
		{"transaction,event", `/data/(sentry\.op|sentry\.origin|sentry\.segment\.name\.source|profiler_id|http\.request\.method)$`},
		{"transaction", `^/contexts/(profile/profile_id|profile/profiler_id|response/status_code|trace/tags/.*)$`},
		{"transaction", `^/tags/http\.status_code$`}, // in the data of the span
		{"event", `^/message$`},
		{string(standaloneSpan), `^/(description|is_segment|segment_id|op|origin|timestamp|exclusive_time|data/.*)$`},
	} {
		all = append(all, entry{e.items, regexp.MustCompile(e.path)})
	}
	return all
}()

// standaloneSpan is the type of spans without a container. They come back in containers.
const standaloneSpan sentry.ItemType = "standalone span"

// elsewhere are the types whose items come back as items of another type, or not at all.
var elsewhere = map[sentry.ItemType]string{
	sentry.ItemSession: "counts: see toitems", sentry.ItemSessions: "counts: see toitems", sentry.ItemClientReport: "counts: see toitems",
	sentry.ItemProfile: "see tosentry", sentry.ItemProfileChunk: "see tosentry", sentry.ItemProfileChunkUI: "see tosentry",
	sentry.ItemAttachment: "described only", sentry.ItemReplayEvent: "described only", sentry.ItemReplayRecording: "described only",
	sentry.ItemReplayVideo: "described only", sentry.ItemRawSecurity: "described only", "statsd": "retired",
}

// TestNothingElseIsLost: each scalar of a recorded item comes back in a member of the same name, as
// often as it was sent, unless it is listed.
func TestNothingElseIsLost(t *testing.T) {
	matched := make([]bool, len(listed))
	isListed := func(kind, path string) bool {
		for i, l := range listed {
			if l.matches(kind, path) {
				matched[i] = true
				return true
			}
		}
		return false
	}
	settings := sentryitems.DefaultSettings()
	settings.IncludePII = true
	items, lost := map[sentry.ItemType]int{}, map[string]string{} // by path, with an example
	for _, request := range golden.Sample(t) {
		examined := profilefile.Examine(envelopeOf(t, request), settings, time.Unix(1_795_225_000, 0))
		for _, item := range examined.Items {
			kind := item.Header.Type
			if elsewhere[kind] != "" {
				continue
			}
			if kind == sentry.ItemSpan && item.Header.ContentType != sentry.ContentTypeSpans {
				kind = standaloneSpan
			}
			items[kind]++
			var back []tosentry.Outgoing
			for _, delivery := range item.Deliveries {
				back = append(back, translated(delivery.Message.Data(), kind == sentry.ItemSpan).Items...)
			}
			got := map[string]int{}
			for i := range back {
				for _, leaf := range leavesOf(back[i].Payload) {
					got[leaf.key()]++
				}
			}
			for _, leaf := range leavesOf(item.Payload) {
				if isListed(string(kind), leaf.path) {
					continue
				}
				if got[leaf.key()]--; got[leaf.key()] < 0 {
					lost[string(kind)+" "+leaf.path] = request.Name + ": " + leaf.value
				}
			}
			for _, name := range lostFromHeader(examined.Header.Trace, back) {
				if !isListed("header "+string(kind), name) {
					lost["header of "+string(kind)+" "+name] = request.Name
				}
			}
		}
	}
	assert.Empty(t, lost)
	for i, l := range listed {
		assert.True(t, matched[i] || !testsize.Full(), "%v: nothing is lost there any more", l)
	}
	t.Log(items)
	for _, kind := range []sentry.ItemType{
		sentry.ItemEvent, sentry.ItemTransaction, sentry.ItemSpan, standaloneSpan, sentry.ItemLog, sentry.ItemTraceMetric, sentry.ItemCheckIn, sentry.ItemFeedback,
	} {
		assert.NotZero(t, items[kind], kind)
	}
}

// lostFromHeader returns the members of the trace header of the envelope that no item has.
func lostFromHeader(sent *sentry.DynamicSamplingContext, back []tosentry.Outgoing) (names []string) {
	if sent == nil {
		return nil
	}
	for name, of := range map[string]func(*sentry.DynamicSamplingContext) string{
		"trace_id":    func(c *sentry.DynamicSamplingContext) string { return c.TraceID },
		"sample_rate": func(c *sentry.DynamicSamplingContext) string { return c.SampleRate },
		"sample_rand": func(c *sentry.DynamicSamplingContext) string { return c.SampleRand },
		"sampled":     func(c *sentry.DynamicSamplingContext) string { return c.Sampled },
		"release":     func(c *sentry.DynamicSamplingContext) string { return c.Release },
		"environment": func(c *sentry.DynamicSamplingContext) string { return c.Environment },
		"transaction": func(c *sentry.DynamicSamplingContext) string { return c.Transaction },
		"replay_id":   func(c *sentry.DynamicSamplingContext) string { return c.ReplayID },
	} {
		has := func(item tosentry.Outgoing) bool { return item.Trace != nil && of(item.Trace) == of(sent) }
		if of(sent) != "" && !slices.ContainsFunc(back, has) {
			names = append(names, name)
		}
	}
	return names
}

// matches reports whether a member of items of a type is listed. The type of a member of the
// envelope's header begins with "header ".
func (e entry) matches(kind, path string) bool {
	return slices.Contains(strings.Split(e.items, ","), kind) && e.path.MatchString(path)
}

func envelopeOf(t *testing.T, request golden.Request) *sentry.Envelope {
	switch request.Items[0] {
	case "(store)":
		return &sentry.Envelope{Items: []sentry.Item{{Header: sentry.ItemHeader{Type: sentry.ItemEvent}, Payload: request.Event(t)}}}
	case "(security)":
		return &sentry.Envelope{}
	}
	envelope, err := sentry.ReadEnvelope(request.Decoded(t))
	require.NoError(t, err, request.Name)
	return envelope
}

// translated returns the items of a message.
func translated(message any, spansOnly bool) tosentry.Export {
	o := tosentry.ExportOptions{SDK: sentry.ClientSDK{Name: "otelcol-test", Version: "1.2.3"}, SpansOnly: spansOnly}
	switch data := message.(type) {
	case pprofile.Profiles:
		return tosentry.ProfilesToChunks(data, o)
	case ptrace.Traces:
		return tosentry.TracesToTransactions(data, o)
	case plog.Logs:
		o.ReceivedNano = 1_795_225_000_000_000_000
		return toitems.FromLogs(data, toitems.LogOptions{ExportOptions: o})
	}
	return toitems.FromMetrics(message.(pmetric.Metrics), toitems.MetricOptions{ExportOptions: o})
}

// leaf is a scalar in a JSON value.
type leaf struct {
	path  string // names of the members that lead to it
	value string // canonical
}

// key returns the name of the last member, and the value.
func (l leaf) key() string {
	name := strings.TrimRight(l.path, "[]")
	return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]) + "=" + l.value
}

func leavesOf(payload []byte) (all []leaf) {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	var visit func(path string, value any)
	visit = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				visit(path+"/"+name, member)
			}
		case []any:
			for _, element := range v {
				visit(path+"[]", element)
			}
		default:
			if text := canonical(v); text != "" {
				all = append(all, leaf{path, text})
			}
		}
	}
	visit("", value)
	return all
}

// canonical returns the text of a scalar, the same in each of Sentry's notations: times, numbers as
// text, IDs, addresses.
func canonical(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return number(string(v))
	}
	text := strings.TrimSpace(value.(string))
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return number(fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond()))
		}
	}
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		if address, err := strconv.ParseUint(hex, 16, 64); err == nil {
			return fmt.Sprintf("0x%x", address)
		}
	}
	if plain := strings.ToLower(strings.ReplaceAll(text, "-", "")); len(plain) == 32 && strings.Trim(plain, "0123456789abcdef") == "" {
		return plain
	}
	return number(text)
}

// number returns the canonical form of a number, or the text if it is none.
func number(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return strconv.FormatFloat(f, 'g', 15, 64)
	}
	return text
}
