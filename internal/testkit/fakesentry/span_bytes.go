// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Ingest cuts the list of spans where its own count exceeds a limit: keys do not count, a value
// counts its JSON and one byte more, an absent field one byte, lists and objects other than data
// only their brackets (relay-event-normalization/src/trimming.rs, relay-protocol/src/size.rs).
// Before that, it adds tags to each span (normalize/span/tag_extraction.rs) and data from the trace
// header.
const (
	maxSpanBytes = 819_200 // relay-event-schema/src/protocol/event.rs
	spanFields   = 24      // of Span, relay-event-schema/src/protocol/span.rs
	spanTags     = 79      // of SentryTags
)

type countedTransaction struct {
	Transaction, Release, Environment, Platform string
	SDK                                         struct{ Name, Version string }
	User                                        map[string]any
	Request                                     struct{ Method string }
	Contexts                                    map[string]map[string]any
	Spans                                       []map[string]any
}

func spanBytesVerdict(payload []byte) string {
	var t countedTransaction
	_ = json.Unmarshal(payload, &t) // ingest removes fields of a wrong type
	trace, _ := t.Contexts["trace"]["trace_id"].(string)
	added := countedTexts(trace, "1234567890", t.Transaction) + // sentry.dsc.*
		countedTexts(t.Release, t.Environment, t.Platform, t.SDK.Name, t.SDK.Version, t.Request.Method)
	for _, context := range [][2]string{{"trace", "op"}, {"trace", "status"}, {"profile", "profiler_id"}, {"replay", "replay_id"}, {"os", "name"}, {"browser", "name"}} {
		text, _ := t.Contexts[context[0]][context[1]].(string)
		added += countedTexts(text)
	}
	for _, value := range t.User {
		added += counted(value)
	}
	total := 0
	for _, span := range t.Spans {
		total += countedSpan(span) + added
	}
	if total > maxSpanBytes {
		return fmt.Sprintf("spans are cut: %d bytes", total)
	}
	return ""
}

func countedSpan(span map[string]any) int {
	size := 3 + spanFields - len(span) + spanTags + countedTexts("1234.567890", "0123456789abcdef") // itself, exclusive_time, group
	for key, value := range span {
		size += counted(value)
		switch text, _ := value.(string); key {
		case "op", "status":
			size += countedTexts(text)
		case "description":
			size += countedTexts(text[:min(len(text), 200)])
		}
	}
	data, _ := span["data"].(map[string]any)
	for _, value := range data {
		size += counted(value)
	}
	return size
}

func countedTexts(texts ...string) (size int) {
	for _, text := range texts {
		size += len(text) + len(`"",`)
	}
	return size
}

func counted(value any) int {
	switch v := value.(type) {
	case string:
		return countedTexts(v)
	case float64:
		return len(strconv.FormatFloat(v, 'f', -1, 64)) + 1
	}
	return len("false,")
}
