// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// The rules of Sentry's ingest for error events. Unlike in profiles, ingest only removes a bad
// field; here, that is a verdict, too.

type ingestEvent struct {
	EventID     *string `json:"event_id"`
	Timestamp   *float64
	Level       *string
	Platform    *string
	Transaction *string
	Release     *string
	Environment *string
	Tags        map[string]string
	Exception   struct{ Values []ingestException }
	Contexts    struct{ Trace *ingestSpan }
	Breadcrumbs struct {
		Values []struct {
			Timestamp *float64
			Type      *string
			Data      map[string]any
		}
	}
	Extra map[string]any
	User  map[string]any
	SDK   ingestSettings
}

type ingestSettings struct {
	Settings struct {
		InferIP string `json:"infer_ip"`
	}
}

// infersIP reports whether ingest may set the sender's address as that of the user
// (relay-event-normalization/src/event.rs, normalize_ip_addresses). The sender is not the user's
// device, so even events of platforms for which ingest infers nothing today must forbid it.
func (s *ingestSettings) infersIP() bool { return s.Settings.InferIP != "never" }

type ingestException struct {
	Type, Value, Module *string
	Mechanism           *struct {
		Type        *string
		Handled     *bool
		ExceptionID *int64 `json:"exception_id"`
		ParentID    *int64 `json:"parent_id"`
	}
	Stacktrace *struct{ Frames []ingestFrame }
}

var (
	ingestLevels    = []string{"fatal", "error", "warning", "info", "debug"}
	ingestPlatforms = strings.Fields("as3 c cfml cocoa csharp elixir go groovy haskell java javascript native node objc other perl php python ruby")
)

func eventVerdict(header *sentry.EnvelopeHeader, item *sentry.Item) string {
	var e ingestEvent
	if err := json.Unmarshal(item.Payload, &e); err != nil {
		return "invalid_json: " + err.Error()
	}
	switch {
	case len(item.Payload) > 1<<20:
		return "too large"
	case e.EventID == nil || !ID.MatchString(*e.EventID) || header.EventID != *e.EventID:
		return "event_id"
	case e.Timestamp != nil && *e.Timestamp <= 0: // absent: the time of receipt
		return "timestamp"
	case e.Level == nil || !slices.Contains(ingestLevels, *e.Level):
		return "level"
	case e.Platform == nil || !slices.Contains(ingestPlatforms, *e.Platform):
		return "platform"
	case e.Transaction != nil && len([]rune(*e.Transaction)) > 200:
		return "transaction"
	case e.Release != nil && len(*e.Release) > 256 || e.Environment != nil && len(*e.Environment) > 256:
		return "release or environment"
	case e.SDK.infersIP():
		return "the sender's address becomes that of the user"
	case len(e.Breadcrumbs.Values) > 100:
		return "too many breadcrumbs"
	}
	for key, value := range e.Tags {
		if len(key) > 32 || value == "" || len([]rune(value)) > 200 || strings.Contains(value, "\n") {
			return "tag " + key
		}
	}
	if trace := e.Contexts.Trace; trace != nil {
		if trace.TraceID == nil || !ingestTraceID.MatchString(*trace.TraceID) || trace.SpanID == nil || !ingestSpanID.MatchString(*trace.SpanID) {
			return "contexts.trace"
		}
		if header.Trace != nil && header.Trace.TraceID != *trace.TraceID {
			return "another trace in the header"
		}
	}
	return exceptionsVerdict(e.Exception.Values)
}

func exceptionsVerdict(chain []ingestException) string {
	ids := map[int64]bool{}
	for i := len(chain) - 1; i >= 0; i-- { // the thrown one is the last
		e := &chain[i]
		switch m := e.Mechanism; {
		case (e.Type == nil || *e.Type == "") && (e.Value == nil || *e.Value == ""):
			return "exception without type and value"
		case e.Value != nil && len(*e.Value) > 8192:
			return "exception.value"
		case m == nil || m.Type == nil || *m.Type == "":
			return "mechanism"
		case len(chain) > 1 && m.ExceptionID == nil:
			return "exception_id"
		case m.ExceptionID != nil && ids[*m.ExceptionID]:
			return "exception_id twice"
		case m.ParentID != nil && !ids[*m.ParentID]:
			return "parent_id"
		case m.ParentID == nil && i < len(chain)-1:
			return "cause without parent_id"
		case m.ExceptionID != nil:
			ids[*m.ExceptionID] = true
		}
		if e.Stacktrace == nil {
			continue
		}
		if n := len(e.Stacktrace.Frames); n == 0 || n > 250 {
			return fmt.Sprintf("%d frames", n)
		}
		for _, f := range e.Stacktrace.Frames {
			switch {
			case f.Function == nil && f.Filename == nil && f.Address == nil:
				return "frame without function, file and address"
			case f.Line != nil && *f.Line == 0 || f.Column != nil && *f.Column == 0:
				return "frame with line 0"
			case f.Function != nil && len(*f.Function) > 256:
				return "function"
			}
		}
	}
	return ""
}
