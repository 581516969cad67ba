// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"net/http"
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"
)

// maxRecordsShown of the log records of a trace, and of the latest.
const maxRecordsShown = 500

// logsAnswer is the latest log records, the newest first.
type logsAnswer struct {
	omissions
	Records []recordAnswer `json:"records"`
	Count   int            `json:"count"` // of all that are kept, of the service that was asked for
}

// logList lists the latest log records; the query may name a service.
func (v *viewer) logList(r *http.Request) (any, error) {
	service := r.URL.Query().Get("service")
	_, _, messages := v.store.all()
	out := logsAnswer{Records: []recordAnswer{}}
	for _, m := range messages {
		for _, share := range m.traces {
			if service == "" || share.service == service {
				out.Count += share.logs
			}
		}
	}
	for _, m := range messages {
		if len(out.Records) == maxRecordsShown {
			break
		}
		err := eachMessage([]kept{{message: m}}, func(m *message) error {
			return eachRecord(m, func(record plog.LogRecord, of string) {
				if (service == "" || service == of) && len(out.Records) < maxRecordsShown {
					texts := perEntry(maxTexts, min(out.Count, maxRecordsShown), &out.omissions)
					out.Records = append(out.Records, describeRecord(record, of, &texts))
				}
			})
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out.Records, func(a, b recordAnswer) int { return cmp.Compare(b.Time, a.Time) })
	return out, nil
}
