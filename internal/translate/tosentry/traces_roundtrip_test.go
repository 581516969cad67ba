// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// TestSpansThereAndBack translates every transaction and every span container of the cases to OTLP
// and back, and compares the result with the original as text, after applying the differences that
// docs/mapping.md lists in the column Back and under "OTLP to Sentry".
func TestSpansThereAndBack(t *testing.T) {
	counts := map[string]int{}
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil {
			spansThereAndBack(t, c.Name, c.Envelope, counts)
		}
	}
	t.Log("cases", counts)
	require.Greater(t, counts["transactions"], 40)
}

func TestCorpusSpansThereAndBack(t *testing.T) {
	counts, sample := map[string]int{}, corpusSample{}
	for _, request := range golden.Corpus(t) {
		if sample.has(request, sentry.ItemTransaction, sentry.ItemSpan) {
			spansThereAndBack(t, request.Name, request.Decoded(t), counts)
		}
	}
	t.Log("corpus", counts)
	if testsize.Full() {
		require.Equal(t, 360, counts["transactions"])
		require.Equal(t, 58, counts["containers"])
	} else {
		require.Greater(t, counts["transactions"], 50)
		require.Greater(t, counts["containers"], 5)
	}
}

func spansThereAndBack(t *testing.T, name string, body []byte, counts map[string]int) {
	envelope, err := sentry.ReadEnvelope(body)
	if envelope == nil || err != nil && len(envelope.Items) == 0 {
		return
	}
	src := fromsentry.Source{ProjectID: "1", EventID: envelope.Header.EventID, IncludePII: true}
	for _, item := range envelope.Items {
		switch {
		case item.Header.Type == sentry.ItemTransaction:
			sent, err := event.DecodeTransaction(item.Payload)
			if err == nil && sent.Root != nil {
				counts["transactions"]++
				transactionThereAndBack(t, name, sent, src)
			}
		case item.Header.Type == sentry.ItemSpan && item.Header.ContentType == sentry.ContentTypeSpans:
			sent, err := event.DecodeSpans(item.Payload, item.Header.ItemCount)
			if err == nil {
				counts["containers"]++
				containerThereAndBack(t, name, sent, src)
			}
		}
	}
}

func transactionThereAndBack(t *testing.T, name string, sent *event.Transaction, src fromsentry.Source) {
	back := TracesToTransactions(fromsentry.TransactionToTraces(sent, src), exportOptions)
	require.Len(t, back.Items, 1, name)
	require.Empty(t, ingestSpansVerdict(&back.Items[0]), name)
	require.Empty(t, back.Lost, name)
	got, err := event.DecodeTransaction(back.Items[0].Payload)
	require.NoError(t, err, name)
	require.Empty(t, got.Flaws, name)
	sent.EventID = attr.FirstText(sent.EventID, src.EventID)
	requireSameLines(t, name, transactionLines(expectedTransaction(sent)), transactionLines(got), nil)
}

func transactionLines(t *event.Transaction) []string {
	payload, _, _ := event.AppendTransaction(nil, t, math.MaxInt)
	return golden.JSONLines(payload)
}

// expectedTransaction returns the original with the documented differences.
func expectedTransaction(sent *event.Transaction) *event.Transaction {
	t := *sent
	t.Platform = attr.EventPlatform(t.Platform)
	root := *sent.Root
	root.Data = slices.Clone(root.Data)
	t.Root = &root
	t.SDK.Rest = slices.Clone(t.SDK.Rest)
	t.SDK.NeverInferIP()
	// The receiver sets the address that ingest would set, because ingest does not for "never".
	var env struct{ REMOTE_ADDR string }
	if t.Request != nil && json.Unmarshal(t.Request.Env, &env) == nil && env.REMOTE_ADDR == "127.0.0.1" &&
		!slices.ContainsFunc(t.User, func(v event.NamedValue) bool { return v.Name == "ip_address" }) {
		t.User = append(slices.Clone(t.User), event.NamedValue{Name: "ip_address", Value: []byte(`"127.0.0.1"`)})
	}
	root.Tags, t.Tags = nil, append(slices.Clone(root.Tags), t.Tags...)
	if len(t.Measurements) == 0 {
		t.Measurements = root.Measurements
	}
	root.Measurements = nil

	stated := fromsentry.TransactionProfiling(sent, fromsentry.Source{})
	expectSpan(&root, stated, &t, true)
	t.ProfilerID, t.ProfileID = attr.FirstText(attr.SimpleID(stated.Profiler), attr.SimpleID(stated.Profile)), ""
	t.Spans = slices.Clone(t.Spans)
	for i := range t.Spans {
		expectSpan(&t.Spans[i], stated, &t, false)
	}
	if t.Transaction == "" {
		t.Transaction = attr.FirstText(sent.Root.Description, root.Op, attr.Unnamed)
	}
	if t.SDK.ClientSDK == (sentry.ClientSDK{}) {
		t.SDK.ClientSDK = exportOptions.SDK
	}
	t.Type = ""
	t.Platform = attr.FirstText(t.Platform, otherPlatform)
	expectFields(&t)
	expectMachine(&t)
	expectRequest(&t)
	expectServer(&t, sent)
	seen := map[string]bool{}
	t.Tags = slices.DeleteFunc(t.Tags, func(tag event.Tag) bool { // the span's own fields take precedence over its tags, and its tags over those of the event
		again := seen[tag.Key]
		seen[tag.Key] = true
		return again || dataOf(t.Root, tag.Key) != nil
	})
	if root.Description == t.Transaction || sent.Transaction == "" {
		root.Description = ""
	}
	return &t
}

// expectSpan sets op from the data, the current name of the status, and profiler and thread on
// every span.
func expectSpan(s *event.Span, stated attr.Profiling, t *event.Transaction, isRoot bool) {
	s.Op = attr.FirstText(s.Op, fromsentry.DataText(s.Data, semconv.SentryOp))
	if s.Description == s.Op && !isRoot {
		s.Description = ""
	}
	p := fromsentry.SpanProfiling(s).Or(stated)
	profiler := attr.FirstText(attr.SimpleID(p.Profiler), attr.SimpleID(p.Profile))
	var data []event.NamedValue
	s.Origin = attr.FirstText(s.Origin, fromsentry.DataText(s.Data, semconv.SentryOrigin)) // data with a field of its own is in that field
	s.Kind = attr.FirstText(s.Kind, fromsentry.DataText(s.Data, semconv.SentryKind))
	for _, member := range s.Data {
		if !attr.ProfilingKeys[member.Name] && !slices.Contains([]string{semconv.SentryOp, semconv.SentryOrigin, semconv.SentryKind}, member.Name) {
			data = append(data, member)
		}
	}
	s.Data = data
	if s.Origin == browserMetrics {
		s.Data = append(s.Data, event.NamedValue{Name: semconv.SentryOrigin, Value: attr.JsonString(s.Origin)})
	}
	if !isRoot && profiler != "" && profiler != attr.FirstText(attr.SimpleID(stated.Profiler), attr.SimpleID(stated.Profile)) {
		s.Data = append(s.Data, event.NamedValue{Name: "profiler_id", Value: attr.JsonString(profiler)})
	}
	putThread(s, p, new(attr.Scratch))
	s.ProfilerID, s.ProfileID, s.SegmentID, s.IsSegment = "", "", "", jsonscan.Optional[bool]{} // in the data, or implied by the transaction
	s.Status = expectStatus(s.Status)
	for i := range s.Links {
		s.Links[i].Sampled.Set = true
	}
}

// expectStatus returns the name that ingest stores.
func expectStatus(sent string) string {
	renamed := map[string]string{"success": "ok", "failure": "internal_error", "unknown_error": "internal_error", "unset": "", "13": "internal_error"}
	if name, ok := renamed[sent]; ok {
		return name
	}
	return sent
}

// dataOf returns a member of a span's data, or nil.
func dataOf(s *event.Span, key string) []byte {
	for _, member := range s.Data {
		if member.Name == key {
			return member.Value
		}
	}
	return nil
}

func addData(s *event.Span, key string, value []byte) {
	if len(value) > 0 && golden.PlainJSON(value) != "" && dataOf(s, key) == nil {
		s.Data = append(s.Data, event.NamedValue{Name: key, Value: value})
	}
}

// expectFields moves data of the root to the fields of the transaction.
func expectFields(t *event.Transaction) {
	t.Root.Data = slices.DeleteFunc(t.Root.Data, func(m event.NamedValue) bool {
		switch m.Name {
		case semconv.SentrySegmentNameSource:
			t.Info.Source = attr.FirstText(t.Info.Source, attr.JsonText(m.Value))
		case semconv.SentryReplayID:
			if !slices.ContainsFunc(t.Contexts, func(c event.NamedValue) bool { return c.Name == "replay" }) {
				t.Contexts = append(t.Contexts, event.NamedValue{Name: "replay", Value: []byte(`{"replay_id":` + string(m.Value) + "}")})
			}
		default:
			return false
		}
		return true
	})
}

// expectMachine moves the response to the data of the root, and removes white space around texts of
// contexts.
func expectMachine(t *event.Transaction) {
	contexts := slices.Clone(t.Contexts)
	for i := range contexts {
		var members map[string]json.RawMessage
		if json.Unmarshal(contexts[i].Value, &members) != nil {
			continue
		}
		if contexts[i].Name == "response" {
			t.Root.Data = slices.DeleteFunc(t.Root.Data, func(m event.NamedValue) bool {
				return m.Name == "http.response.status_code" && members["status_code"] != nil
			})
			addData(t.Root, "http.response.status_code", members["status_code"])
			var headers map[string]string
			_ = json.Unmarshal(members["headers"], &headers)
			for name, value := range headers {
				addData(t.Root, "http.response.header."+strings.ToLower(name), []byte("["+string(attr.JsonString(value))+"]"))
			}
			delete(members, "status_code")
			delete(members, "headers")
		}
		for name, value := range members {
			if text := attr.JsonText(value); text != strings.TrimSpace(text) && attr.MachineFields.KeyOf(contexts[i].Name+"/"+name) != "" {
				members[name] = attr.JsonString(strings.TrimSpace(text))
			}
		}
		contexts[i].Value, _ = json.Marshal(members)
	}
	t.Contexts = contexts
}

// expectRequest sets fields that are in data and request to the value in data.
func expectRequest(t *event.Transaction) {
	root, r := t.Root, &event.HTTPRequest{}
	if t.Request != nil {
		*r = *t.Request
	}
	text := func(key string, value *string) {
		if *value != "" {
			addData(root, key, attr.JsonString(*value))
		}
		if data := dataOf(root, key); data != nil {
			*value = attr.FirstText(attr.JsonText(data), string(data))
		}
	}
	text("url.full", &r.URL)
	text("http.request.method", &r.Method)
	text("url.fragment", &r.Fragment)
	for _, member := range r.Rest {
		if member.Name == "body_size" {
			addData(root, "http.request.body.size", member.Value)
		}
	}
	if query := attr.PlainText(r.QueryString); query != "" {
		addData(root, "url.query", attr.JsonString(strings.TrimPrefix(query, "?")))
	}
	if data := dataOf(root, "url.query"); data != nil {
		r.QueryString = data
	}
	for _, header := range r.Headers {
		addData(root, "http.request.header."+strings.ToLower(header.Key), []byte("["+string(attr.JsonString(header.Value))+"]"))
		if strings.EqualFold(header.Key, "user-agent") {
			addData(root, "user_agent.original", attr.JsonString(header.Value))
		}
	}
	r.Headers = nil
	for _, member := range root.Data {
		if name, ok := strings.CutPrefix(member.Name, "http.request.header."); ok {
			var list []string
			if json.Unmarshal(member.Value, &list) != nil {
				list = []string{attr.PlainText(member.Value)}
			}
			for _, value := range list {
				r.Headers = append(r.Headers, event.Tag{Key: name, Value: value})
			}
		}
	}
	root.Data = slices.DeleteFunc(root.Data, func(member event.NamedValue) bool { // lists are only in the request
		return strings.HasPrefix(member.Name, "http.request.header.") && member.Value[0] == '['
	})
	t.Request = nil
	if r.URL+r.Method != "" || len(r.QueryString)+len(r.Headers)+len(r.Data)+len(r.Cookies)+len(r.Env) > 0 {
		t.Request = r
	}
}

// expectServer sets server_name to the server.address of a root that is not a client.
func expectServer(t, sent *event.Transaction) {
	if address := dataOf(t.Root, semconv.ServerAddress); address != nil && t.ServerName == "" {
		t.ServerName = attr.JsonText(address)
		t.Root.Data = slices.DeleteFunc(t.Root.Data, func(m event.NamedValue) bool { return m.Name == semconv.ServerAddress })
	}
}
