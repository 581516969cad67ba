package sentry

// ReadReports makes an envelope of the reports that browsers send on their own account, one JSON object or, by the
// Reporting API, a list of them: every report is an item with that header. The error is a Discard; the envelope then has
// the reports before it.
func ReadReports(body []byte, header ItemHeader) (*Envelope, error) {
	e := &Envelope{}
	s := scanner{data: body}
	report := func() {
		if s.peek() != '{' {
			s.failHere("a report")
			return
		}
		if len(e.Items) == MaxEnvelopeItems {
			s.fail("more than %d reports", MaxEnvelopeItems)
			return
		}
		if payload := s.value(); s.err == nil {
			e.Items = append(e.Items, Item{Header: header, Payload: payload[:len(payload):len(payload)]})
		}
	}
	if s.peek() != '[' {
		report()
	} else if s.open('[') {
		for n := 0; s.element(&n); {
			report()
		}
	}
	s.end()
	if s.err != nil {
		return e, malformed(s.err)
	}
	return e, nil
}
