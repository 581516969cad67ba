// SPDX-License-Identifier: Apache-2.0

package event

// Message is what an event says in words, apart from its exceptions.
// https://develop.sentry.dev/sdk/data-model/event-payloads/message/
type Message struct {
	Formatted string
	Template  string // "order %s failed", where parameters were put in
	Params    []byte // JSON: a list, by python's logging also an object
}

// message reads "logentry", or "message" as old and new SDKs send it: text, or java's object. Text alone is the formatted
// message. What an earlier key of the two said stays, unless the later one says more.
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
	if sent.Formatted == "" && len(sent.Params) == 0 { // not formatted at all: the template is the message
		sent.Formatted, sent.Template = sent.Template, ""
	}
	if sent.Formatted != "" || sent.Template != "" {
		*m = sent
	}
}

// Text is the message as a person would read it.
func (m *Message) Text() string {
	if m.Formatted != "" {
		return m.Formatted
	}
	return m.Template
}
