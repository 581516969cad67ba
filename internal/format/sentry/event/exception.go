// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// Exception is one error in the chain of an event.
// https://develop.sentry.dev/sdk/data-model/event-payloads/exception/
type Exception struct {
	Type       string // class or name of the error
	Value      string // its message
	Module     string // package of Type, if Type does not contain it
	ThreadID   string
	Mechanism  *Mechanism
	Stacktrace *Stacktrace
	Rest       []NamedValue
}

// Exceptions is the table of Exception.
var Exceptions = newTable("exception", func(e *Exception) *[]NamedValue { return &e.Rest },
	text("type", func(e *Exception) *string { return &e.Type }),
	exceptionValue("value", func(e *Exception) *string { return &e.Value }),
	text("module", func(e *Exception) *string { return &e.Module }),
	identifier("thread_id", func(e *Exception) *string { return &e.ThreadID }),
	pointer(KindMechanism, "mechanism", Mechanisms, func(e *Exception) **Mechanism { return &e.Mechanism }),
	stacktrace(func(e *Exception) **Stacktrace { return &e.Stacktrace }),
	carried[Exception](KindObject, "raw_stacktrace"),
)

// isException reports whether an exception states anything. Ingest drops others.
func (e *Exception) isException() bool { return e.Type != "" || e.Value != "" || e.Stacktrace != nil }

// exceptionValue is text, or any other JSON as text, because Sentry's schema allows both
// ("JsonLenientString").
func exceptionValue[T any](key string, at func(*T) *string) row[T] {
	r := text(key, at)
	r.read = func(l *reader, t *T, name string) { *at(t) = l.lenientText(name) }
	return r
}

// lenientText reads text, or any other JSON as text.
func (l *reader) lenientText(field string) string {
	if next := l.S.Peek(); next == '{' || next == '[' {
		return string(jsonscan.ValidUTF8(l.S.Value()))
	}
	return l.Text(field)
}

// Mechanism states how the SDK captured the exception, and its position in the chain.
type Mechanism struct {
	Type        string                  // generic, onerror, chained, instrument, …
	Source      string                  // member of the parent that holds this exception: __cause__, cause, errors[0]
	Handled     jsonscan.Optional[bool] // false = the program did not catch it
	Group       jsonscan.Optional[bool] // true = one of several, such as AggregateError or ExceptionGroup
	ExceptionID jsonscan.Optional[int64]
	ParentID    jsonscan.Optional[int64]
	Rest        []NamedValue
}

// Mechanisms is the table of Mechanism. Old SDKs for Apple's systems state signals in separate
// members, from which ingest makes `meta` (relay-event-schema/src/protocol/mechanism.rs,
// LegacyMechanism).
var Mechanisms = newTable("mechanism", func(m *Mechanism) *[]NamedValue { return &m.Rest },
	text("type", func(m *Mechanism) *string { return &m.Type }),
	carried[Mechanism](KindText, "description"),
	carried[Mechanism](KindText, "help_link"),
	text("source", func(m *Mechanism) *string { return &m.Source }),
	flag("handled", func(m *Mechanism) *jsonscan.Optional[bool] { return &m.Handled }),
	carried[Mechanism](KindFlag, "synthetic"),
	flag("is_exception_group", func(m *Mechanism) *jsonscan.Optional[bool] { return &m.Group }),
	integer("exception_id", func(m *Mechanism) *jsonscan.Optional[int64] { return &m.ExceptionID }),
	integer("parent_id", func(m *Mechanism) *jsonscan.Optional[int64] { return &m.ParentID }),
	carried[Mechanism](KindObject, "meta"), // signal, mach_exception, ns_error, errno
	carried[Mechanism](KindObject, "data"),
	carried[Mechanism](KindObject, "posix_signal"),
	carried[Mechanism](KindObject, "mach_exception"),
	carried[Mechanism](KindText, "relevant_address"),
)
