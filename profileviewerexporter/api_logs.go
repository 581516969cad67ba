// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"net/http"
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxRecordsShown is the maximum number of log records in a response.
const maxRecordsShown = 500

// logsAnswer lists the latest log records, newest first.
type logsAnswer struct {
	answer.Omissions
	Records []recordAnswer `json:"records"`
	Count   int            `json:"count"` // of all stored records of the requested service
}

type recordAnswer struct {
	Time       string             `json:"time"`
	Service    string             `json:"service"`
	Severity   string             `json:"severity"`
	Body       string             `json:"body"`
	Trace      string             `json:"trace,omitempty"`
	Span       string             `json:"span,omitempty"`
	Attributes []answer.Attribute `json:"attributes"`
}

// logList lists the latest log records; the query may select a service.
func (v *viewer) logList(r *http.Request) (any, error) {
	service := r.URL.Query().Get("service")
	_, _, messages := v.store.All()
	out := logsAnswer{Records: []recordAnswer{}}
	for _, m := range messages {
		for _, f := range m.Fragments {
			if service == "" || f.Service == service {
				out.Count += f.Records
			}
		}
	}
	for _, m := range messages {
		if len(out.Records) == maxRecordsShown {
			break
		}
		err := m.EachRecord(func(record plog.LogRecord, of string) {
			if (service == "" || service == of) && len(out.Records) < maxRecordsShown {
				texts := answer.PerEntry(answer.MaxTexts, min(out.Count, maxRecordsShown), &out.Omissions)
				out.Records = append(out.Records, describeRecord(record, of, &texts))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out.Records, func(a, b recordAnswer) int { return cmp.Compare(b.Time, a.Time) })
	return out, nil
}

func describeRecord(record plog.LogRecord, service string, texts *answer.Budget) recordAnswer {
	out := recordAnswer{
		Time: answer.Nanos(uint64(store.RecordTime(record))), Service: texts.Text(service), Body: texts.Text(record.Body().AsString()),
		Severity: texts.Text(cmp.Or(record.SeverityText(), record.SeverityNumber().String())),
	}
	out.Attributes = texts.Map(record.Attributes())
	if trace, span := record.TraceID(), record.SpanID(); !trace.IsEmpty() {
		out.Trace, out.Span = hex.EncodeToString(trace[:]), hexSpan(span)
	}
	return out
}
