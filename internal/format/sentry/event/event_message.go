// SPDX-License-Identifier: Apache-2.0

package event

// Message is the text of an event, apart from its exceptions.
// https://develop.sentry.dev/sdk/data-model/event-payloads/message/
type Message struct {
	Formatted string
	Template  string // "order %s failed", if there are parameters
	Params    []byte // JSON: a list, or an object from Python's logging
}

// message reads "logentry", or "message" in any form: text, or an object as sent by Java. Plain
// text is the formatted message. An object overwrites an earlier message, text does not.
func (l *reader) message(m *Message) {
	if l.S.Peek() != '{' {
		if text := l.Text("message"); m.Formatted == "" {
			m.Formatted = text
		}
		return
	}
	var sent Message
	l.Object("message", func(key string) {
		switch key {
		case "formatted":
			sent.Formatted = l.Text("logentry.formatted")
		case "message":
			sent.Template = l.Text("logentry.message")
		case "params":
			sent.Params = l.Raw()
		default:
			l.S.Skip()
		}
	})
	if sent.Formatted == "" && len(sent.Params) == 0 { // no parameters: the template is the message
		sent.Formatted, sent.Template = sent.Template, ""
	}
	if sent.Formatted != "" || sent.Template != "" {
		*m = sent
	}
}

// Text returns the formatted message or, if there is none, the template.
func (m *Message) Text() string {
	if m.Formatted != "" {
		return m.Formatted
	}
	return m.Template
}
