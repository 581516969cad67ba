// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// builder makes items that have every field of their tables.
type builder struct {
	t     *testing.T
	built map[string]map[string]bool // object → its fields
}

// omitted is the value of a member that the object does not have.
const omitted = "-"

// object returns an object with each field of a table. `special` are the values of fields without a
// kind, or with a form of their own.
func (b *builder) object(name string, kinds *jsonscan.Words[event.Kind], special map[string]string) string {
	members := map[string]string{}
	for key, kind := range kinds.All {
		value, ok := special[key]
		if !ok {
			value = sampleOf(kind, name+"."+key)
		}
		if value == omitted {
			continue
		}
		require.NotEmpty(b.t, value, "no value for the field %s of %q", key, name)
		members[key] = value
	}
	for key := range special {
		_, known := kinds.Get(key)
		require.True(b.t, known, "%q has no field %s", name, key)
	}
	return b.given(name, members)
}

// given returns an object with fields.
func (b *builder) given(name string, members map[string]string) string {
	if b.built[name] == nil {
		b.built[name] = map[string]bool{}
	}
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		b.built[name][key] = true
		texts = append(texts, fmt.Sprintf("%q:%s", key, members[key]))
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// sampleOf returns a value of a kind, or "" if the kind has no form of its own. It differs from
// field to field.
func sampleOf(kind event.Kind, field string) string {
	number := crc32.ChecksumIEEE([]byte(field))%100_000 + 1
	switch kind {
	case event.KindText:
		return fmt.Sprintf("%q", field)
	case event.KindID, event.KindInt, event.KindCount, event.KindPosition:
		return fmt.Sprint(number)
	case event.KindFloat:
		return fmt.Sprintf("%d.5", number)
	case event.KindFlag:
		return "true"
	case event.KindAddress:
		return fmt.Sprintf(`"0x%x"`, number)
	case event.KindTime:
		return fmt.Sprintf("17900%05d.25", number%100_000)
	case event.KindTexts:
		return fmt.Sprintf(`[%q,"b"]`, field)
	case event.KindList:
		return fmt.Sprintf(`[{"of":%q,"n":[1,{"m":true}]}]`, field)
	case event.KindObject, event.KindMembers, event.KindAny:
		return fmt.Sprintf(`{"of":%q,"n":{"m":[1,2.5,null]}}`, field)
	}
	return ""
}

const (
	traceID = `"5b8efff798038103d269b633813fc60c"`
	spanID  = `"eee19b7ec3c1b174"`
	otherID = `"00f067aa0ba902b7"`
	eventID = `"9c591ba7112441251a254ccbe6cd23c4"`
)

func list(elements ...string) string   { return "[" + strings.Join(elements, ",") + "]" }
func values(elements ...string) string { return `{"values":` + list(elements...) + "}" }

// wholeItem is an item with every field.
type wholeItem struct {
	kind        sentry.ItemType
	contentType string
	elements    int // of a container
	payload     string
}

// wholeItems returns an item of each type that has a table.
func (b *builder) wholeItems() []wholeItem {
	ids := map[string]string{"trace_id": traceID, "span_id": spanID, "parent_span_id": otherID}
	with := func(special map[string]string, more ...map[string]string) map[string]string {
		all := maps.Clone(special)
		for _, m := range more {
			maps.Copy(all, m)
		}
		return all
	}

	// Objects of events.
	frame := b.object("frame", event.Frames.Kinds(), map[string]string{"platform": `"native"`, "addr_mode": `"rel:0"`, "trust": `"cfi"`})
	stack := b.object("stacktrace", event.Stacktraces.Kinds(), map[string]string{"frames": list(frame, `{"function":"inner"}`)})
	mechanism := b.object("mechanism", event.Mechanisms.Kinds(), nil)
	exception := b.object("exception", event.Exceptions.Kinds(), map[string]string{"mechanism": mechanism, "stacktrace": stack})
	thread := b.object("threads", event.EventThreads.Kinds(), map[string]string{"stacktrace": stack})
	crumb := b.object("breadcrumbs", event.Breadcrumbs.Kinds(), map[string]string{"level": `"info"`})
	request := b.object("request", event.Requests.Kinds(), map[string]string{
		"query_string": `"a=1"`, "headers": `{"accept":"text/html","x-list":"a"}`, "data": `{"sku":"A-1"}`, "cookies": `{"session":"1"}`,
	})
	sdk := b.object("sdk", event.SDKs.Kinds(), nil)
	message := b.object("logentry", event.Messages.Kinds(), map[string]string{"formatted": `"order 7 failed"`, "message": `"order %s failed"`, "params": `["7"]`})
	shared := map[string]string{
		"event_id": eventID, "level": `"warning"`, "platform": `"csharp"`, "release": `"shop@1.2"`, "dist": `"77"`, "environment": `"prod"`,
		"transaction_info": b.object("transaction_info", event.TransactionInfos.Kinds(), map[string]string{"source": `"route"`}),
		"sdk":              sdk, "breadcrumbs": values(crumb), "request": request,
		"tags": `{"tag":"t"}`, "user": `{"id":"7","username":"u","email":"u@example.com","ip_address":"203.0.113.9","name":"N","geo":{"city":"Vienna"},"segment":"paid","data":{"plan":"x"},"other":"o"}`,
		"debug_meta": b.object("debug_meta", event.DebugMetas.Kinds(), nil),
		"version":    `"7"`,
	}
	os, device, runtime := `{"type":"os","name":"iOS","version":"17","build":"21A","rooted":false}`, `{"name":"d","model":"m","arch":"arm64","simulator":true}`, `{"name":".NET","version":"8"}`
	context := func(trace string, more map[string]string) string {
		return b.given("contexts", with(map[string]string{"trace": trace, "os": os, "device": device, "runtime": runtime,
			"app": `{"app_name":"n"}`, "replay": `{"replay_id":"99999999999999999999999999999999"}`, "response": `{"status_code":500,"headers":{"a":"b"},"cookies":{"c":"d"},"body_size":3}`}, more))
	}
	trace := b.object("contexts.trace", event.TraceContexts.Kinds(), with(ids, map[string]string{"type": `"trace"`, "status": `"ok"`, "data": `{"k":"v"}`}))
	profile := b.given("contexts.profile", map[string]string{"type": `"profile"`, "profile_id": `"77777777777777777777777777777777"`, "profiler_id": `"88888888888888888888888888888888"`})
	whole := with(shared, map[string]string{
		"type": `"error"`, "logentry": message, "exception": values(exception, `{"type":"T","value":"thrown"}`), "stacktrace": stack, "threads": values(thread),
		"contexts": context(trace, map[string]string{"profile": profile}),
	})
	feedback := with(whole, map[string]string{"type": `"feedback"`, "contexts": context(trace, map[string]string{"feedback": `{"message":"m","contact_email":"u@example.com","name":"N","url":"https://h/","source":"widget","associated_event_id":"12341234123412341234123412341234"}`})})

	// Spans.
	measures, tag := `{"lcp":{"value":80.5,"unit":"millisecond"}}`, `{"spantag":"s"}`
	link := func(attributes string) string {
		return b.given("links", map[string]string{"trace_id": `"12121212121212121212121212121212"`, "span_id": `"3434343434343434"`, "sampled": "true", "attributes": attributes})
	}
	span := func(more map[string]string) map[string]string {
		return with(ids, map[string]string{
			"op": `"http.server"`, "status": `"not_found"`, "origin": `"auto.http"`, "kind": `"server"`, "platform": `"python"`,
			"profile_id": `"77777777777777777777777777777777"`, "profiler_id": `"88888888888888888888888888888888"`, "segment_id": spanID,
			"data": `{"k":"v","list":[1,2]}`, "tags": tag, "measurements": measures, "links": list(link(`{"sentry.link.type":"previous_trace"}`)),
			"same_process_as_parent": "true", "type": `"trace"`,
		}, more)
	}
	times := map[string]string{"start_timestamp": "1790000000.25", "timestamp": "1790000001.5"}
	root := b.object("contexts.trace", event.Spans.Kinds(), span(map[string]string{"start_timestamp": omitted, "timestamp": omitted}))
	child := b.object("spans", event.Spans.Kinds(), span(with(times, map[string]string{"span_id": `"1111111111111111"`, "parent_span_id": spanID, "type": `"t"`, "kind": `"client"`, "is_segment": "false"})))
	alone := b.object("span", event.Spans.Kinds(), span(times))
	transaction := b.object("", event.Transactions.Kinds(), with(shared, times, map[string]string{
		"type": `"transaction"`, "spans": list(child), "measurements": `{"fcp":{"value":1.5,"unit":"second"}}`,
		"contexts": context(root, map[string]string{"profile": profile}),
	}))

	// Containers.
	attributes := `{"text":{"type":"string","value":"v"},"size":{"type":"integer","value":7},"flag":{"type":"boolean","value":true},"ratio":{"type":"double","value":1.5},"names":{"type":"array","value":["a"]},` +
		`"sentry.sdk.name":{"type":"string","value":"sentry.python"},"sentry.sdk.version":{"type":"string","value":"2.1"}}`
	container := func(element string) string {
		return b.object("", withField(event.Containers.Kinds(), "items"), map[string]string{
			"items": list(element), "version": "2", "ingest_settings": b.given("ingest_settings", map[string]string{"infer_ip": `"auto"`, "infer_user_agent": `"never"`}),
		})
	}
	streamed := b.object("items", event.StreamedSpans.Kinds(), with(ids, map[string]string{
		"status": `"error"`, "kind": `"server"`, "start_timestamp": "1790000000.25", "end_timestamp": "1790000001.5",
		"attributes": attributes, "links": list(link(`{"sentry.link.type":{"type":"string","value":"previous_trace"}}`)),
	}))
	log := b.object("items", event.Logs.Kinds(), map[string]string{"trace_id": traceID, "span_id": spanID, "level": `"warn"`, "severity_number": "14", "body": `"b"`, "attributes": attributes})
	metric := b.object("items", event.TraceMetrics.Kinds(), map[string]string{"trace_id": traceID, "span_id": spanID, "type": `"distribution"`, "unit": `"millisecond"`, "value": "2.5", "attributes": attributes})

	// The others.
	checkInTrace := b.given("contexts.trace", with(ids, map[string]string{"op": `"o"`, "data": `{"k":"v"}`}))
	checkIn := b.object("", event.CheckIns.Kinds(), map[string]string{
		"check_in_id": eventID, "status": `"in_progress"`, "platform": `"python"`, "release": `"shop@1.2"`, "environment": `"prod"`,
		"sdk":      b.given("sdk", map[string]string{"name": `"sentry.python"`, "version": `"2.1"`, "integrations": `["i"]`, "packages": `[{"name":"p"}]`}),
		"contexts": b.given("contexts", map[string]string{"trace": checkInTrace}),
		"type":     `"check_in"`, "event_id": `"12341234123412341234123412341234"`, "modules": `{"m":"1"}`,
	})
	report := b.object("", event.UserReports.Kinds(), map[string]string{"event_id": eventID, "email": `"u@example.com"`})
	attrs := b.given("attrs", map[string]string{"release": `"shop@1.2"`, "environment": `"prod"`, "ip_address": `"203.0.113.9"`, "user_agent": `"curl"`})
	session := b.object("", event.SessionUpdates.Kinds(), map[string]string{
		"sid": eventID, "init": "true", "started": "1790000000", "timestamp": "1790000060", "duration": "60.5", "status": `"crashed"`, "errors": "3", "abnormal_mechanism": `"anr_foreground"`,
		"attrs": attrs, "seq": "4", "did": `"u"`,
	})
	aggregate := b.object("aggregates", event.SessionAggregates.Kinds(), map[string]string{
		"started": `"2026-11-27T05:00:00Z"`, "exited": "5", "errored": "4", "abnormal": "3", "crashed": "2", "unhandled": "1", "did": `"u"`,
	})
	sessions := b.object("", event.SessionCounts.Kinds(), map[string]string{"aggregates": list(aggregate), "attrs": attrs})
	lost := func(n int) string {
		return b.object("events", event.LostEventEntries.Kinds(), map[string]string{"reason": fmt.Sprintf(`"reason-%d"`, n), "category": `"error"`, "quantity": fmt.Sprint(n)})
	}
	clientReport := b.object("", event.ClientReports.Kinds(), map[string]string{
		"timestamp": `"2026-11-27T05:00:00Z"`, "discarded_events": list(lost(1)), "rate_limited_events": list(lost(2)), "filtered_events": list(lost(3)), "filtered_sampling_events": list(lost(4)),
	})

	return []wholeItem{
		{kind: sentry.ItemEvent, payload: b.object("", event.Events.Kinds(), whole)},
		{kind: sentry.ItemFeedback, payload: b.object("", event.Events.Kinds(), feedback)},
		{kind: sentry.ItemTransaction, payload: transaction},
		{kind: sentry.ItemSpan, payload: alone},
		{kind: sentry.ItemSpan, contentType: sentry.ContentTypeSpans, elements: 1, payload: container(streamed)},
		{kind: sentry.ItemLog, contentType: sentry.ContentTypeLogs, elements: 1, payload: container(log)},
		{kind: sentry.ItemTraceMetric, contentType: "application/vnd.sentry.items.trace-metric+json", elements: 1, payload: container(metric)},
		{kind: sentry.ItemCheckIn, payload: checkIn},
		{kind: sentry.ItemUserReport, payload: report},
		{kind: sentry.ItemSession, payload: session},
		{kind: sentry.ItemSessions, payload: sessions},
		{kind: sentry.ItemClientReport, payload: clientReport},
	}
}

// withField adds a field without a kind.
func withField(kinds *jsonscan.Words[event.Kind], key string) *jsonscan.Words[event.Kind] {
	kinds.Put(key, 0)
	return kinds
}
