// SPDX-License-Identifier: Apache-2.0

package planted

import (
	"encoding/json"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Envelope plants secrets in every item of an envelope: in JSON, and in names of files. It returns
// nil if the envelope is damaged.
func (p *Planter) Envelope(body []byte) []byte {
	parsed, err := sentry.ReadEnvelope(body)
	if err != nil {
		return nil
	}
	out := []string{strings.SplitN(string(body), "\n", 2)[0]}
	for _, item := range parsed.Items {
		payload := item.Payload
		var document any
		if json.Unmarshal(payload, &document) == nil {
			if strings.Contains(string(item.Header.Type), "profile") {
				p.profile(document, string(item.Header.Type))
			} else {
				document = p.Plant(document, string(item.Header.Type))
			}
			payload, _ = json.Marshal(document)
		}
		header := map[string]any{"type": item.Header.Type, "length": len(payload)}
		if item.Header.ContentType != "" {
			header["content_type"] = item.Header.ContentType
		}
		if item.Header.Filename != "" {
			header["filename"] = item.Header.Filename + p.Fill("?password=%s", "filename")
		}
		if item.Header.Platform != "" {
			header["platform"] = item.Header.Platform
		}
		if n := item.Header.ItemCount; n.Set {
			header["item_count"] = n.Value
		}
		encoded, _ := json.Marshal(header)
		out = append(out, string(encoded), string(payload))
	}
	return []byte(strings.Join(out, "\n") + "\n")
}

// profile plants secrets in the texts of a profile: in names of frames, threads and transactions
// those in URLs and queries, which Sentry's rules find there, elsewhere those of all classes.
func (p *Planter) profile(value any, place string) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			at := place + "." + key
			text, isText := member.(string)
			switch {
			case !isText:
				p.profile(member, at)
			case key == "filename" || key == "abs_path" || key == "function" || key == "module":
				value[key] = text + p.Fill(" https://u:%s@h/a.js?access_token=%s&password=%s", at)
			case key == "name" && (strings.Contains(place, "thread_metadata") || strings.HasSuffix(place, ".transaction")):
				value[key] = text + p.Fill(" postgres://u:%s@h/?token=%s", at)
			case strings.HasSuffix(place, ".tags"):
				p.Turn++
				value[key] = text + " " + p.Fill(texts[p.Turn%Classes], at)
			}
		}
		if strings.HasSuffix(place, ".tags") {
			value["password"] = p.Fill("%s", place)
		}
	case []any:
		for _, element := range value {
			p.profile(element, place)
		}
	}
}
