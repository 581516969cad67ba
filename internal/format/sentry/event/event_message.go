// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// Message is the text of an event, apart from its exceptions.
// https://develop.sentry.dev/sdk/data-model/event-payloads/message/
type Message struct {
	Formatted string
	Template  string // "order %s failed", if there are parameters
	Params    []byte // JSON: a list, or an object from Python's logging
}

// Messages is the table of Message.
var Messages = newTable[Message]("logentry", nil,
	text("formatted", func(m *Message) *string { return &m.Formatted }),
	text("message", func(m *Message) *string { return &m.Template }),
	anyJSON(KindAny, "params", func(m *Message) *[]byte { return &m.Params }),
)

// message is the row of "logentry", or "message" in any form: text, or an object as sent by Java.
// Plain text is the formatted message. An object overwrites an earlier message, text does not.
func message(at func(*ErrorEvent) *Message) row[ErrorEvent] {
	return row[ErrorEvent]{
		key: "logentry", aliases: []string{"message", "sentry.interfaces.Message"},
		read: func(l *reader, e *ErrorEvent, _ string) { l.message(at(e)) },
		write: func(dst []byte, key string, e *ErrorEvent) []byte {
			m := at(e)
			if m.Formatted == "" && m.Template == "" {
				return dst
			}
			return Messages.append(jsonscan.AppendKey(dst, key), m)
		},
	}
}

func (l *reader) message(m *Message) {
	const field = "message"
	switch l.S.Peek() {
	case '{':
	case 'f': // false is no message (relay-event-schema/src/protocol/logentry.rs)
		l.TypeMismatch(field)
		return
	default:
		if text := l.lenientText(field); m.Formatted == "" && m.Template == "" {
			m.Formatted = text
		}
		return
	}
	var sent Message
	Messages.read(l, &sent)
	if sent.Formatted == "" && len(sent.Params) == 0 { // no parameters: the template is the message
		sent.Formatted, sent.Template = sent.Template, ""
	}
	if sent.Formatted != "" || sent.Template != "" {
		*m = sent
	}
}

// Text returns the formatted message. If there is none, it formats the template, or returns it if
// that is impossible, as ingest does.
func (m *Message) Text() string {
	if m.Formatted != "" {
		return m.Formatted
	}
	if formatted, ok := FormatMessage(m.Template, m.Params); ok {
		return formatted
	}
	return m.Template
}
