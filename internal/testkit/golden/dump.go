// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Receipt is the time range of the request of a case. Data without a time gets one in this range,
// which differs in every run: dumps contain "receipt" instead.
type Receipt struct{ From, To time.Time }

// dumper writes a message as readable text: golden files are reviewed line by line. The dumps of
// all signals have the same form: resource, scope, then an entry for each span, record or metric,
// with a line for each field and attribute, in the order of the message. Unset fields are omitted.
// Types are visible: strings are quoted, doubles have a decimal point.
type dumper struct {
	receipt Receipt
	out     strings.Builder
}

func (d *dumper) line(indent int, format string, args ...any) {
	for range indent {
		d.out.WriteString("  ")
	}
	fmt.Fprintf(&d.out, format, args...)
	d.out.WriteByte('\n')
}

func (d *dumper) head(resource pcommon.Resource, scope pcommon.InstrumentationScope, schemas ...string) {
	d.line(0, "resource")
	d.attributes(1, resource.Attributes())
	d.line(0, "%s", strings.TrimRight("scope "+scope.Name()+" "+scope.Version(), " "))
	d.attributes(1, scope.Attributes())
	for _, schema := range schemas {
		if schema != "" {
			d.line(1, "schema %s", schema)
		}
	}
}

func (d *dumper) attributes(indent int, attributes pcommon.Map) {
	for key, value := range attributes.All() {
		d.value(indent, keyText(key), value)
	}
}

// time prints an instant in full, and nothing for none.
func (d *dumper) time(indent int, name string, t pcommon.Timestamp) {
	switch {
	case t == 0:
	case t >= pcommon.NewTimestampFromTime(d.receipt.From) && t <= pcommon.NewTimestampFromTime(d.receipt.To):
		d.line(indent, "%-9s receipt", name)
	default:
		d.line(indent, "%-9s %s", name, time.Unix(int64(t/1e9), int64(t%1e9)).UTC().Format(time.RFC3339Nano))
	}
}

func (d *dumper) dropped(indent int, n uint32) {
	if n > 0 {
		d.line(indent, "dropped   %d attributes", n)
	}
}

// ids prints the trace and span that something belongs to.
func (d *dumper) ids(indent int, trace pcommon.TraceID, span pcommon.SpanID) {
	if !trace.IsEmpty() {
		d.line(indent, "trace     %s", trace)
	}
	if !span.IsEmpty() {
		d.line(indent, "span      %s", span)
	}
}
