// SPDX-License-Identifier: Apache-2.0

package sentry

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// ReadReports returns an envelope with the reports that browsers send without an SDK: one JSON
// object or, with the Reporting API, a list of objects. Every report becomes an item with the given
// header. The error is a *discard.Error; the envelope then has the reports before it.
func ReadReports(body []byte, header ItemHeader) (*Envelope, error) {
	e := &Envelope{}
	s := jsonscan.Scanner{Data: body}
	report := func() {
		if s.Peek() != '{' {
			s.FailHere("a report")
			return
		}
		if len(e.Items) == MaxEnvelopeItems {
			s.Fail("more than %d reports", MaxEnvelopeItems)
			return
		}
		if payload := s.Value(); s.Err == nil {
			e.Items = append(e.Items, Item{Header: header, Payload: payload[:len(payload):len(payload)]})
		}
	}
	if s.Peek() != '[' {
		report()
	} else if s.Open('[') {
		for n := 0; s.Element(&n); {
			report()
		}
	}
	s.End()
	if s.Err != nil {
		return e, s.Err
	}
	return e, nil
}
