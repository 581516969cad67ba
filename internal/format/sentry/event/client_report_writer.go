// SPDX-License-Identifier: Apache-2.0

package event

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// reportLists are the lists of a report in the order in which they are written.
var reportLists = []string{"discarded_events", "rate_limited_events", "filtered_events", "filtered_sampling_events"}

// AppendClientReport appends the payload of a "client_report" item to dst. It is the inverse of
// DecodeClientReport.
func AppendClientReport(dst []byte, r *ClientReport) []byte {
	dst = append(dst, '{')
	if r.Timestamp.Set {
		at := time.Unix(0, int64(r.Timestamp.UnixNano)).UTC()
		dst = jsonscan.AppendText(dst, "timestamp", at.Format(time.RFC3339Nano))
	}
	for _, list := range reportLists {
		empty := true
		for _, e := range r.Events {
			if e.Outcome != outcomes[list] {
				continue
			}
			if empty {
				dst = append(jsonscan.AppendKey(dst, list), '[')
			} else {
				dst = append(dst, ',')
			}
			empty = false
			quantity := int(e.Quantity)
			dst = append(dst, '{')
			dst = jsonscan.AppendText(dst, "reason", e.Reason)
			dst = jsonscan.AppendText(dst, "category", e.Category)
			dst = append(jsonscan.AppendCount(dst, "quantity", jsonscan.Some(quantity)), '}')
		}
		if !empty {
			dst = append(dst, ']')
		}
	}
	return append(dst, '}')
}
