// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Expect reads an item with encoding/json and returns the OTLP elements that docs/mapping.md
// promises for it, except profiles: a text for each span ("span", its ids and its parent's), log
// record ("record", kind, identity) and data point ("point", metric, distinguishing attributes,
// value). eventID is the envelope's.
func Expect(item sentry.Item, eventID string) ([]string, error) {
	kind := string(item.Header.Type)
	if read, known := oracles[kind]; known {
		return read(item)
	}
	switch kind {
	case "statsd":
		return nil, nil
	case "event":
		return expectEvent(item.Payload, eventID)
	case "attachment":
		return []string{fmt.Sprintf("record attachment %s %d", item.Header.Filename, len(item.Payload))}, nil
	}
	return []string{fmt.Sprintf("record %s %d", kind, len(item.Payload))}, nil
}

var oracles = map[string]func(sentry.Item) ([]string, error){
	"transaction": expectTransaction, "span": expectSpans,
	"feedback": expectFeedback, "log": expectLogs,
	"trace_metric": expectTraceMetrics, "session": expectSession, "sessions": expectSessions, "check_in": expectCheckIn,
	"client_report": expectClientReport, "profile": expectMeasurements, "profile_chunk": expectMeasurements,
}

type sentSpan struct {
	TraceID  string `json:"trace_id"`
	SpanID   string `json:"span_id"`
	ParentID string `json:"parent_span_id"`
}

func spanText(trace, id, parent string) string {
	return "span " + trace + "/" + id + " under " + parent
}

func (s sentSpan) text() string { return spanText(s.TraceID, s.SpanID, s.ParentID) }

func expectTransaction(item sentry.Item) (texts []string, err error) {
	var sent struct {
		Contexts struct{ Trace sentSpan }
		Spans    []sentSpan
	}
	err = json.Unmarshal(item.Payload, &sent)
	for _, span := range append(sent.Spans, sent.Contexts.Trace) {
		texts = append(texts, span.text())
	}
	return texts, err
}

func expectSpans(item sentry.Item) (texts []string, err error) {
	var sent struct {
		sentSpan
		Items []sentSpan
	}
	err = json.Unmarshal(item.Payload, &sent)
	if sent.Items == nil {
		return []string{sent.text()}, err
	}
	for _, span := range sent.Items {
		texts = append(texts, span.text())
	}
	return texts, err
}

// expectEvent: the events of the PHP SDK have their ID only in the header of the envelope.
func expectEvent(payload []byte, eventID string) ([]string, error) {
	sent := struct {
		ID string `json:"event_id"`
	}{eventID}
	err := json.Unmarshal(payload, &sent)
	return []string{"record event " + strings.ReplaceAll(sent.ID, "-", "")}, err
}

func expectFeedback(item sentry.Item) ([]string, error) {
	var sent struct {
		Contexts struct{ Feedback struct{ Message string } }
	}
	err := json.Unmarshal(item.Payload, &sent)
	return []string{"record feedback " + sent.Contexts.Feedback.Message}, err
}

func expectLogs(item sentry.Item) (texts []string, err error) {
	var sent struct {
		Items []struct {
			TraceID string `json:"trace_id"`
			Body    string
		}
	}
	err = json.Unmarshal(item.Payload, &sent)
	for _, log := range sent.Items {
		texts = append(texts, "record log "+log.TraceID+" "+log.Body)
	}
	return texts, err
}

func pointText(name string, words ...any) string {
	text := "point " + name
	for _, word := range words {
		if f, ok := word.(float64); ok {
			word = strconv.FormatFloat(f, 'g', 12, 64) // the last digits of sums depend on the order
		}
		if word != "" {
			text += fmt.Sprint(" ", word)
		}
	}
	return text
}

// expectTraceMetrics adds up the values of a counter or distribution that have the same attributes.
func expectTraceMetrics(item sentry.Item) (texts []string, err error) {
	var sent struct {
		Items []struct {
			Name, Type, Unit string
			Value            float64
			Attributes       map[string]struct{ Value any }
		}
	}
	err = json.Unmarshal(item.Payload, &sent)
	type series struct {
		count int
		sum   float64
	}
	added := map[[2]string]series{} // by name and type, then by unit and attributes
	for _, m := range sent.Items {
		if m.Type == "gauge" {
			texts = append(texts, pointText(m.Name, m.Value))
			continue
		}
		for _, beside := range []string{"sentry.timestamp.sequence", "sentry.replay_id", "user.email"} {
			delete(m.Attributes, beside)
		}
		key := [2]string{m.Name + " " + m.Type, fmt.Sprint(m.Unit, m.Attributes)} // maps are printed in sorted order
		added[key] = series{added[key].count + 1, added[key].sum + m.Value}
	}
	for key, s := range added {
		name, kind, _ := strings.Cut(key[0], " ")
		if kind == "counter" {
			texts = append(texts, pointText(name, s.sum))
		} else {
			texts = append(texts, pointText(name, s.count, s.sum))
		}
	}
	return texts, err
}

func expectSession(item sentry.Item) (texts []string, err error) {
	var sent struct {
		Status   string
		Init     bool
		Errors   int
		Duration *float64
	}
	err = json.Unmarshal(item.Payload, &sent)
	texts = append(texts, pointText("sentry.session.updates", sent.Status, 1))
	if sent.Init {
		texts = append(texts, pointText("sentry.session.started", 1))
	}
	if sent.Status == "ok" {
		return texts, err
	}
	if sent.Status == "exited" && sent.Errors > 0 {
		sent.Status = "errored"
	}
	if sent.Status == "crashed" {
		sent.Errors = max(sent.Errors, 1)
	}
	texts = append(texts, pointText("sentry.session.count", sent.Status, 1), pointText("sentry.session.errors", sent.Status, sent.Errors))
	if sent.Duration != nil {
		texts = append(texts, pointText("sentry.session.duration", sent.Status, 1, *sent.Duration))
	}
	return texts, err
}

func expectSessions(item sentry.Item) (texts []string, err error) {
	var sent struct{ Aggregates []map[string]any }
	err = json.Unmarshal(item.Payload, &sent)
	for _, aggregate := range sent.Aggregates {
		started := 0
		for _, status := range slices.Sorted(maps.Keys(aggregate)) {
			if n, counts := aggregate[status].(float64); counts && n > 0 {
				texts = append(texts, pointText("sentry.session.count", status, int(n)))
				started += int(n)
			}
		}
		texts = append(texts, pointText("sentry.session.started", started))
	}
	return texts, err
}

func expectCheckIn(item sentry.Item) (texts []string, err error) {
	var sent struct {
		ID       string `json:"check_in_id"`
		Slug     string `json:"monitor_slug"`
		Status   string
		Duration *float64
	}
	err = json.Unmarshal(item.Payload, &sent)
	texts = []string{"record check_in " + sent.ID + " " + sent.Status, pointText("sentry.check_in.count", sent.Slug, sent.Status, 1)}
	if sent.Duration != nil {
		texts = append(texts, pointText("sentry.check_in.duration", sent.Slug, sent.Status, 1, *sent.Duration))
	}
	return texts, err
}

func expectClientReport(item sentry.Item) (texts []string, err error) {
	var sent struct {
		Discarded []struct {
			Reason, Category string
			Quantity         int
		} `json:"discarded_events"` // SDKs send no other list
	}
	err = json.Unmarshal(item.Payload, &sent)
	for _, d := range sent.Discarded {
		texts = append(texts, pointText("sentry.client_report.discarded", d.Reason, d.Category, "client_discard", d.Quantity))
	}
	return texts, err
}

func expectMeasurements(item sentry.Item) (texts []string, err error) {
	var sent struct {
		EventID      string `json:"event_id"`
		ChunkID      string `json:"chunk_id"`
		Measurements map[string]struct{ Values []struct{ Value float64 } }
	}
	err = json.Unmarshal(item.Payload, &sent)
	for name, series := range sent.Measurements {
		for _, v := range series.Values {
			texts = append(texts, pointText("sentry.profile."+name, sent.EventID+sent.ChunkID, v.Value))
		}
	}
	return texts, err
}
