// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"net/http"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
)

// noticesAnswer lists facts about the other components of the collector: the addresses for SDKs,
// and the reasons why data was rejected, the latest first.
type noticesAnswer struct {
	answer.Omissions
	Endpoints []endpointAnswer `json:"endpoints"`
	Notices   []noticeAnswer   `json:"notices"`
	Held      int64            `json:"held,omitempty"`     // number of messages of profiles that wait for their spans
	HeldFor   float64          `json:"held_for,omitempty"` // maximum wait in seconds
}

type endpointAnswer struct {
	Kind string `json:"kind"` // `dsn` or `spotlight`
	URL  string `json:"url"`
}

type noticeAnswer struct {
	Component string `json:"component"`
	Service   string `json:"service"`
	Subject   string `json:"subject"`
	Reason    string `json:"reason"`
	Detail    string `json:"detail"`
	Count     int64  `json:"count"`
	Last      string `json:"last"` // in RFC 3339
}

func (v *viewer) noticeList(r *http.Request) (any, error) {
	list, endpoints, version := notices.Shared.Read()
	tag := fmt.Sprintf(`"%d-%d"`, v.created.UnixNano(), version)
	if current(r, tag) {
		return notModified{}, nil
	}
	out := noticesAnswer{Endpoints: []endpointAnswer{}, Notices: []noticeAnswer{}}
	messages, wait := notices.Shared.Held()
	if messages > 0 {
		out.Held, out.HeldFor = messages, wait.Seconds()
	}
	for _, e := range endpoints {
		out.Endpoints = append(out.Endpoints, endpointAnswer(e))
	}
	for _, n := range list {
		texts := answer.PerEntry(answer.MaxTexts, len(list), &out.Omissions)
		out.Notices = append(out.Notices, noticeAnswer{
			Component: texts.Text(n.Component), Service: texts.Text(n.Service), Subject: texts.Text(n.Subject), Reason: texts.Text(n.Reason), Detail: texts.Text(n.Detail),
			Count: n.Count, Last: n.Last.UTC().Format(time.RFC3339Nano),
		})
	}
	return tagged{out, tag}, nil
}
