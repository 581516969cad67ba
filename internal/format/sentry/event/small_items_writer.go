// SPDX-License-Identifier: Apache-2.0

package event

import (
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// AppendCheckIn appends the payload of a "check_in" item to dst. It is the inverse of
// DecodeCheckIn.
func AppendCheckIn(dst []byte, c *CheckIn) []byte {
	dst = append(dst, '{')
	dst = jsonscan.AppendText(dst, "check_in_id", c.ID)
	dst = jsonscan.AppendText(dst, "monitor_slug", c.MonitorSlug)
	dst = jsonscan.AppendText(dst, "status", c.Status)
	if c.Duration.Set {
		dst = jsonscan.AppendFloat(jsonscan.AppendKey(dst, "duration"), c.Duration.Value)
	}
	dst = appendTime(dst, "timestamp", c.Timestamp)
	dst = jsonscan.AppendText(dst, "platform", c.Platform)
	dst = jsonscan.AppendText(dst, "release", c.Release)
	dst = jsonscan.AppendText(dst, "environment", c.Environment)
	dst = jsonscan.AppendText(dst, "server_name", c.ServerName)
	dst = appendSDK(dst, c.SDK)
	dst = jsonscan.AppendRaw(dst, "monitor_config", c.Config)
	trace := TraceContext{TraceID: c.TraceID, SpanID: c.SpanID}
	if trace := trace.append(nil); len(trace) > 0 {
		dst = append(jsonscan.AppendKey(dst, "contexts"), '{')
		dst = append(jsonscan.AppendRaw(dst, "trace", trace), '}')
	}
	return append(dst, '}')
}

// AppendUserReport appends the payload of a "user_report" item to dst. It is the inverse of
// DecodeUserReport.
func AppendUserReport(dst []byte, r *UserReport) []byte {
	dst = append(dst, '{')
	dst = jsonscan.AppendText(dst, "event_id", r.EventID)
	dst = jsonscan.AppendText(dst, "name", r.Name)
	dst = jsonscan.AppendText(dst, "email", r.Email)
	return append(jsonscan.AppendText(dst, "comments", r.Comments), '}')
}

// AppendSessions appends the payload of a "sessions" item to dst. It is the inverse of
// DecodeSessions.
func AppendSessions(dst []byte, s *Sessions) []byte {
	dst = append(dst, `{"aggregates":[`...)
	for i := range s.Aggregates {
		a := &s.Aggregates[i]
		dst = append(appendComma(dst), '{')
		dst = appendTime(dst, "started", a.Started)
		for _, count := range []struct {
			key   string
			value int64
		}{{"exited", a.Exited}, {"errored", a.Errored}, {"abnormal", a.Abnormal}, {"crashed", a.Crashed}, {"unhandled", a.Unhandled}} {
			if count.value != 0 {
				dst = strconv.AppendInt(jsonscan.AppendKey(dst, count.key), count.value, 10)
			}
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"attrs":{`...)
	dst = jsonscan.AppendText(dst, "release", s.Release)
	return append(jsonscan.AppendText(dst, "environment", s.Environment), "}}"...)
}
