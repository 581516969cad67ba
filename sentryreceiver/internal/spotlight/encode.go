// SPDX-License-Identifier: Apache-2.0

package spotlight

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

const contentType = "application/x-sentry-envelope"

// encode returns an envelope as Spotlight's clients expect it, in one line:
//
//	[{envelope header}, [[{item header}, payload], …]]
//
// The envelope header has the ID of the envelope in addition, and each payload its type. Payloads
// that are not JSON become {"data": "…"}, or null if they should be JSON. encode returns nil for a
// body that is no envelope.
func encode(e envelope) []byte {
	frames, err := sentry.ReadFrames(e.body)
	if err != nil {
		return nil
	}
	out := bytes.NewBufferString("[")
	object(out, frames.Header, "__spotlight_envelope_id", e.id.String())
	out.WriteString(",[")
	for i := range frames.Items {
		if i > 0 {
			out.WriteByte(',')
		}
		f := &frames.Items[i]
		header := jsonscan.Scanner{Data: f.Raw}
		out.WriteByte('[')
		object(out, header.Value(), "", "")
		out.WriteByte(',')
		payload(out, &f.Item)
		out.WriteByte(']')
	}
	out.WriteString("]]")
	return out.Bytes()
}

// object writes an object in one line, with one more text member; null if it is no object. The
// member is the last one: readers use the last of several with one key.
func object(out *bytes.Buffer, text []byte, key, value string) {
	start := out.Len()
	if err := json.Compact(out, text); err != nil || out.Len() == start || out.Bytes()[start] != '{' {
		out.Truncate(start)
		out.WriteString("null")
		return
	}
	if key == "" {
		return
	}
	out.Truncate(out.Len() - 1) // the closing brace
	if out.Len() > start+1 {
		out.WriteByte(',')
	}
	out.Write(jsonscan.AppendJSONText(nil, key))
	out.WriteByte(':')
	out.Write(jsonscan.AppendJSONText(nil, value))
	out.WriteByte('}')
}

func payload(out *bytes.Buffer, item *sentry.Item) {
	switch item.Header.Type {
	case sentry.ItemAttachment, sentry.ItemReplayVideo, sentry.ItemStatsd:
		fmt.Fprintf(out, `{"data":%s}`, jsonscan.AppendJSONText(nil, data(item)))
	default:
		object(out, item.Payload, "type", string(item.Header.Type))
	}
}

// data returns bytes as text: as they are if they are text, else in base64.
func data(item *sentry.Item) string {
	media, _, err := mime.ParseMediaType(item.Header.ContentType)
	if err == nil && (strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "json")) || item.Header.Type == sentry.ItemStatsd {
		return strings.ToValidUTF8(string(item.Payload), "\uFFFD")
	}
	return base64.StdEncoding.EncodeToString(item.Payload)
}
